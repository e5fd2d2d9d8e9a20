// Command image writes the container image of a release as an OCI archive: one static binary for
// each platform, from scratch, without a container engine. Its configuration is the Dockerfile's.
//
//	go run ./image -version 1.2.3 -epoch 1700000000 -out image.tar amd64=FOLDER arm64=FOLDER
//
// A folder has the binary and the licences.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is the owner of the cache directory, and whom the daemon runs as.
const user = 65532

func main() {
	version := flag.String("version", "", "the release")
	epoch := flag.Int64("epoch", 0, "the time of every file, in seconds since 1970")
	out := flag.String("out", "", "the archive to write")
	flag.Parse()
	if err := run(*version, time.Unix(*epoch, 0).UTC(), *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// run writes the archive; each platform is an architecture and a folder.
func run(version string, made time.Time, out string, platforms []string) (err error) {
	if version == "" || out == "" || len(platforms) == 0 {
		return errors.New("want -version, -out and at least one platform, as amd64=FOLDER")
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range platforms {
		arch, files, _ := strings.Cut(p, "=")
		image, err := newImage(version, made, arch, files)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	folder, err := os.MkdirTemp("", "tensorcache-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	name := map[string]string{"org.opencontainers.image.ref.name": version}
	if err := path.AppendIndex(index, layout.WithAnnotations(name)); err != nil {
		return err
	}
	return archive(folder, out, made)
}

// newImage returns the image of one architecture.
func newImage(version string, made time.Time, arch, files string) (v1.Image, error) {
	content, err := layerOf(files, made)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1),
		types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer,
		History: v1.History{Created: v1.Time{Time: made}, CreatedBy: "make release"}})
	if err != nil {
		return nil, err
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = "linux", arch, v1.Time{Time: made}
	file.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", user, user),
		// The clients of the image itself, as the health check, start no second daemon.
		Env:        []string{"TENSORCACHE_DIR=/cache", "TENSORCACHE_AUTOSTART=0"},
		Entrypoint: []string{"/tensorcache"},
		Cmd:        []string{"serve"},
		Volumes:    map[string]struct{}{"/cache": {}},
		// Docker's field; the OCI specification has none, and other engines ignore it.
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/tensorcache", "ls"},
			Interval: 10 * time.Second, Timeout: 5 * time.Second, StartPeriod: time.Minute},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "tensorcache",
			"org.opencontainers.image.version":  version,
			"org.opencontainers.image.source":   "https://github.com/tensorcache/tensorcache",
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, file)
}

// layerOf returns the only layer: the binary, the licences and two empty directories.
func layerOf(files string, made time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "cache/", Typeflag: tar.TypeDir, Mode: 0o711, Uid: user, Gid: user},
		{Name: "licenses/", Typeflag: tar.TypeDir, Mode: 0o755},
		{Name: "licenses/LICENSE", Typeflag: tar.TypeReg, Mode: 0o644},
		{Name: "licenses/THIRD_PARTY_LICENSES.txt", Typeflag: tar.TypeReg, Mode: 0o644},
		{Name: "tensorcache", Typeflag: tar.TypeReg, Mode: 0o755},
		{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777},
	} {
		var content []byte
		if h.Typeflag == tar.TypeReg {
			var err error
			if content, err = os.ReadFile(filepath.Join(files, filepath.Base(h.Name))); err != nil {
				return nil, err
			}
		}
		h.ModTime, h.Size = made, int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// archive packs an OCI layout, in the order of names.
func archive(folder, out string, made time.Time) (err error) {
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := tar.NewWriter(file)
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		h := tar.Header{Name: filepath.ToSlash(name), Typeflag: tar.TypeReg, Mode: 0o644,
			Size: int64(len(content)), ModTime: made}
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	return errors.Join(err, w.Close())
}
