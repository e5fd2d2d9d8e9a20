"""A mapped file of a generation, and private arrays over it that users may write into."""

from __future__ import annotations

import ctypes
import errno
import functools
import itertools
import mmap
import os
import sys
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._errors import ResourceError
from .manifest import Column

Array = npt.NDArray[Any]

COPIED = 128 << 10
"""Arrays of up to so many bytes are copied. A map costs 7 µs, its pages' faults 8 µs for 128 KiB;
copying and registering them costs 4.2 µs."""
MOST_MAPS = 16_384
"""Arrays are copied while so many maps are in use. Linux gives a process 65,530 maps, which the
memory of threads, libraries and large arrays needs too."""
MAP_FIXED = 0x10  # the same on Linux and macOS; Python's mmap has no name for it
MAP_NORESERVE = 0x4000 if sys.platform == "linux" else 0x40
"""Without it Linux may refuse a private map that is larger than the memory."""


class MappedFile:
    """A file that this process maps read-only, and parts of it that it maps privately.

    A write into ``memory`` would end the process, so no array over it is given to users.

    Args:
        fd: a descriptor of the file, which this object owns.

    Attributes:
        memory: the read-only map of the whole file, which shares its pages with all processes.
        stored: the generation that the file has the columns of; None for other files.
    """

    def __init__(self, fd: int) -> None:
        self._fd, self._identity = fd, identity(fd)
        weakref.finalize(self, close, fd, self._identity).atexit = False
        self.memory = mmap.mmap(fd, 0, access=mmap.ACCESS_READ)
        self._at = address_of(np.frombuffer(self.memory, np.uint8))
        self.stored: Stored | None = None

    def private(self, array: Array) -> Array:
        """As :meth:`private_arrays`, for one array."""
        return self.private_arrays([array])[0]

    def private_arrays(self, arrays: Sequence[Array]) -> list[Array]:
        """The values of arrays over ``memory``, as arrays whose writes nobody else sees.

        Small arrays are copied. The others are over one private, copy-on-write map: its pages are
        those of the file until something writes into them. All are read-only for numpy, whose
        refusal is clearer than a write that nobody else sees.

        Raises:
            ResourceError: the system has room neither for a map nor for copies.
        """
        bounds = [byte_bounds(array) for array in arrays if array.nbytes > COPIED]
        part, first = None, 0
        if bounds:
            first = (min(bounds)[0] - self._at) // mmap.ALLOCATIONGRANULARITY
            first *= mmap.ALLOCATIONGRANULARITY
            part = self._map_part(first, max(end for _, end in bounds) - self._at - first)
        return [
            copy_of(array, self.stored, address_of(array) - self._at)
            if part is None or array.nbytes <= COPIED
            else np.ndarray(
                array.shape,
                array.dtype,
                part,
                address_of(array) - self._at - first,
                array.strides,
            )
            for array in arrays
        ]

    def _map_part(self, first: int, size: int) -> Array | None:
        """The bytes of a part over a private map; None if there is no room for another one."""
        if PrivateMap.count >= MOST_MAPS or identity(self._fd) != self._identity:
            return None
        try:
            part: Array = np.asarray(PrivateMap(self._fd, first, size, self.stored))
        except OSError as error:
            if error.errno == errno.ENOMEM:
                return None
            raise
        return part


class Copy(np.ndarray[Any, Any]):
    """The memory of values that were copied for a user, who gets a view of it.

    Attributes:
        of: the generation of the values, and their offset and strides in its file; None for
            values of another file.
    """

    of: tuple[Stored, int, tuple[int, ...]] | None = None


RETURNED: weakref.WeakValueDictionary[int, PrivateMap | Copy] = weakref.WeakValueDictionary()
"""The memory of columns that users have arrays over, by a number that is used once."""
NUMBERS = itertools.count()
"""The numbers."""


def returned() -> list[PrivateMap | Copy]:
    """The memory in ``RETURNED``, to which other threads may add."""
    return [memory for known in RETURNED.valuerefs() if (memory := known()) is not None]


class Stored(NamedTuple):
    """A generation that arrays are of.

    Attributes:
        server: the socket of its daemon.
        dataset: its dataset.
        generation: its number.
        digest: 32 hex digits that stand for the content.
        columns: its columns.
    """

    server: str
    dataset: str
    generation: int
    digest: str
    columns: Mapping[str, Column]


class PrivateMap:
    """A private, copy-on-write map of a part of a file, which NumPy makes arrays of bytes over.

    It is unmapped after the last array over it is gone. Python's ``mmap`` would keep a descriptor
    for each map, of which a process has few.

    Attributes:
        count: how many there are.

    Raises:
        OSError: the system does not make the map.
    """

    count = 0

    def __init__(self, fd: int, offset: int, size: int, stored: Stored | None) -> None:
        at = map_private(fd, offset, size)
        self.stored, self.offset, self.size, self.address = stored, offset, size, at
        if stored is not None:
            RETURNED[next(NUMBERS)] = self
        self.__array_interface__ = {
            "data": (at, True),  # read-only
            "shape": (size,),
            "typestr": "|u1",
            "version": 3,
        }
        PrivateMap.count += 1
        weakref.finalize(self, unmap, at, size).atexit = False


def map_private(fd: int, offset: int, size: int, at: int | None = None) -> int:
    """Map a part of a file privately, and return the map's address.

    Args:
        fd: a descriptor of the file.
        offset: where the part begins, a multiple of the page size.
        size: its bytes.
        at: the address of a map that it replaces.

    Raises:
        OSError: the system does not make the map.
    """
    flags = mmap.MAP_PRIVATE | MAP_NORESERVE | (0 if at is None else MAP_FIXED)
    made: int = libc().mmap(at, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, fd, offset)
    if made == ctypes.c_void_p(-1).value:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return made


def unmap(at: int, size: int) -> None:
    """Give a private map back."""
    libc().munmap(at, size)
    PrivateMap.count -= 1


def copy_of(array: Array, stored: Stored | None, offset: int) -> Array:
    """A dense copy that numpy refuses to write into.

    Args:
        array: values in the file.
        stored: the generation of the file.
        offset: where the first value is in the file.
    """
    try:
        copied = Copy(array.shape, array.dtype)
        copied[...] = array
    except MemoryError as error:
        raise ResourceError(
            f"a copy of {array.nbytes:,} bytes of the dataset finds no memory",
            hint="drop arrays that are no longer needed; windows and feeds copy only their rows",
        ) from error
    copied.flags.writeable = False
    if stored is not None:
        copied.of = stored, offset, array.strides
        RETURNED[next(NUMBERS)] = copied
    view: Array = copied.view(np.ndarray)  # its flag cannot be set, as that of an array over a map
    return view


def identity(fd: int) -> tuple[int, int]:
    """What tells a file from others; a program may close all descriptors and open new ones."""
    try:
        status = os.fstat(fd)
    except OSError:
        return -1, -1
    return status.st_dev, status.st_ino


def close(fd: int, was: tuple[int, int]) -> None:
    """Close a descriptor if it is still that of its file."""
    if identity(fd) == was:
        os.close(fd)


@functools.cache
def libc() -> ctypes.CDLL:
    """The C library, whose ``mmap`` needs no descriptor after the call."""
    library = ctypes.CDLL(None, use_errno=True)
    numbers = [ctypes.c_int] * 3
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *numbers, ctypes.c_long]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return library


def address_of(array: Array) -> int:
    """The address of an array's first value."""
    address: int = array.__array_interface__["data"][0]
    return address


def byte_bounds(array: Array) -> tuple[int, int]:
    """The addresses of an array's first byte and of the byte after its last; strides ascend."""
    at = address_of(array)
    last = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True))
    return at, at + last + array.itemsize
