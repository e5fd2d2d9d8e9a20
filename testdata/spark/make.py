"""Writes the Parquet files of this directory: every type, codec, page version and kind of time that Spark offers.

Run it in this directory with pyspark 4.0.5 and Java 17: python make.py
"""

import datetime
import decimal
import math
import pathlib
import random
import shutil

from pyspark.sql import SparkSession
from pyspark.sql import types as t

ROWS = 60
random.seed(7)
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.session.timeZone", "Europe/Berlin").getOrCreate()


def maybe(value):
    """Nulls for columns that can say so."""
    return None if random.random() < 0.2 else value


def number(digits, scale):
    """A decimal of at most so many digits."""
    return decimal.Decimal(random.randrange(-(10**digits) + 1, 10**digits)).scaleb(-scale, decimal.Context(60))


def time():
    """A time of the years 1950 to 2266, in milliseconds, which every type of times holds."""
    return datetime.datetime(1950, 1, 1) + datetime.timedelta(milliseconds=random.randrange(10**13))


WORDS = ["", "tech", "ünïcödé", "a longer word than twelve bytes"]
FLOATS = [1.5, -0.0, math.inf, -math.inf, math.nan]

# By name: the type, whether it is nullable, and a value.
COLUMNS = {
    "bool": (t.BooleanType(), False, lambda: random.random() < 0.5),
    "bool_null": (t.BooleanType(), True, lambda: random.random() < 0.9),  # nullable, though no value is missing
    "byte": (t.ByteType(), False, lambda: random.randrange(-128, 128)),
    "short": (t.ShortType(), False, lambda: random.randrange(-(2**15), 2**15)),
    "int": (t.IntegerType(), False, lambda: random.randrange(-(2**31), 2**31)),
    "int_null": (t.IntegerType(), True, lambda: random.randrange(5)),
    "long": (t.LongType(), False, lambda: random.randrange(-(2**63), 2**63)),
    "float": (t.FloatType(), True, lambda: maybe(random.choice([*FLOATS, random.gauss(0, 1)]))),
    "double": (t.DoubleType(), True, lambda: maybe(random.choice([*FLOATS, random.gauss(0, 1)]))),
    "plain": (t.DoubleType(), False, lambda: random.gauss(0, 1e9)),
    "decimal5": (t.DecimalType(5, 2), True, lambda: maybe(number(5, 2))),
    "decimal9": (t.DecimalType(9, 0), False, lambda: number(9, 0)),
    "decimal18": (t.DecimalType(18, 9), False, lambda: number(18, 9)),
    "decimal38": (t.DecimalType(38, 20), True, lambda: maybe(number(38, 20))),
    "date": (t.DateType(), False, lambda: time().date()),
    "stamp": (t.TimestampType(), False, time),
    "local": (t.TimestampNTZType(), False, time),
    "text": (t.StringType(), True, lambda: maybe(random.choice(WORDS))),
    "words": (t.StringType(), False, lambda: "".join(random.choice("abc") for _ in range(random.randrange(12)))),
    "gap": (t.DayTimeIntervalType(), False, lambda: datetime.timedelta(microseconds=random.randrange(10**12))),
    "gone": (t.DoubleType(), True, lambda: None),
}

rows = [[value() for _, _, value in COLUMNS.values()] for _ in range(ROWS)]


def write(name, options=None, columns=COLUMNS, **conf):
    """One file of these rows, or of some of their columns."""
    for key, value in conf.items():
        spark.conf.set("spark.sql.parquet." + key, value)
    schema = t.StructType([t.StructField(c, COLUMNS[c][0], COLUMNS[c][1]) for c in columns])
    places = [list(COLUMNS).index(c) for c in columns]
    # Spark forgets what is not nullable unless the plan says so: the rows go through an RDD with the schema.
    frame = spark.createDataFrame(spark.sparkContext.parallelize([[row[i] for i in places] for row in rows], 1), schema)
    out = pathlib.Path("out")
    frame.coalesce(1).write.options(**(options or {})).parquet(str(out))
    (part,) = out.glob("part-*.parquet")
    part.rename(name + ".parquet")
    shutil.rmtree(out)
    for key in conf:
        spark.conf.unset("spark.sql.parquet." + key)


PLAIN = {"parquet.enable.dictionary": "false", "parquet.page.size": "200", "parquet.page.row.count.limit": "17"}
V2 = {"parquet.writer.version": "PARQUET_2_0"}
for codec in ("none", "snappy", "gzip", "zstd", "lz4", "lz4_raw"):
    few = {c: COLUMNS[c] for c in ("int", "double", "bool", "text")} if codec.startswith("lz4") else COLUMNS
    write(f"{codec}-v1", {"compression": codec}, few)
    write(f"{codec}-v2", {"compression": codec, **V2}, few)
write("plain-v1", {"compression": "snappy", **PLAIN})
write("plain-v2", {"compression": "zstd", **PLAIN, **V2})  # deltas, RLE booleans
times = ("stamp", "local", "date", "double")
for kind in ("INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"):
    write(kind.lower(), {"compression": "snappy"}, times, outputTimestampType=kind)
    write(kind.lower() + "-plain", {"compression": "snappy", **PLAIN}, times, outputTimestampType=kind)
write("legacy", columns=[c for c in COLUMNS if c != "local"], writeLegacyFormat="true")
write("legacy-v2", V2, [c for c in COLUMNS if c != "local"], writeLegacyFormat="true")
small = {"parquet.block.size": "1500", "parquet.page.size": "100"}
write("groups", {**small, "parquet.block.size.row.check.min": "5", "parquet.page.size.row.check.min": "5"})
write("bloom", {"parquet.bloom.filter.enabled": "true"}, ("int", "double", "words"))
spark.stop()
