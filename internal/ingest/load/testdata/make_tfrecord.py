"""Writes tensorflow.tfrecord and its gzip with TensorFlow 2.21 itself: 40 records of two stations, one without the feature "gap"."""

import math

import tensorflow as tf


def feature(**kind):
    return tf.train.Feature(**{name: cls(value=values) for name, (cls, values) in kind.items()})


for suffix, options in (("", ""), (".gz", "GZIP")):
    with tf.io.TFRecordWriter(f"tensorflow.tfrecord{suffix}", tf.io.TFRecordOptions(compression_type=options)) as w:
        for i in range(40):
            features = {
                "station": feature(bytes_list=(tf.train.BytesList, ["Köln".encode() if i < 20 else b"Bonn"])),
                "t": feature(int64_list=(tf.train.Int64List, [i % 20])),
                "wide": feature(float_list=(tf.train.FloatList, [i / 7, -i, math.inf if i == 3 else 0.1])),
                "count": feature(int64_list=(tf.train.Int64List, [(-1) ** i * 2**62 + i])),
            }
            if i != 5:
                features["gap"] = feature(float_list=(tf.train.FloatList, [i / 3]))
            w.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
