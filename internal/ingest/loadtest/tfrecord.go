package loadtest

import (
	"encoding/binary"
	"hash/crc32"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of tf.train.Example and of its nested messages, from example.proto.
const (
	ExampleFeatures = 1
	ExampleLists    = 2 // of a tf.train.SequenceExample
	FeaturesFeature = 1
	EntryKey        = 1
	EntryValue      = 2

	bytesList = 1
	floatList = 2
	int64List = 3
	listValue = 1
)

// maskedCRC returns the masked CRC-32C checksum of TFRecord.
func maskedCRC(b []byte) uint32 {
	c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return (c>>15 | c<<17) + 0xa282ead8
}

// TFRecords returns a TFRecord file of the records, as TensorFlow's writer produces it.
func TFRecords(records ...[]byte) string {
	var out []byte
	for _, r := range records {
		out = binary.LittleEndian.AppendUint64(out, uint64(len(r)))
		out = binary.LittleEndian.AppendUint32(out, maskedCRC(out[len(out)-8:]))
		out = append(out, r...)
		out = binary.LittleEndian.AppendUint32(out, maskedCRC(r))
	}
	return string(out)
}

// Message returns a length-delimited protobuf field with number n and content body.
func Message(n protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), body)
}

// Example returns an encoded tf.train.Example of features by name: []string, []float32, []int64, or
// nil for a feature without a list. Numbers are packed, or one field each if loose is true.
func Example(loose bool, features map[string]any) []byte {
	var all []byte
	for name, v := range features {
		var list, packed []byte
		kind := bytesList
		switch v := v.(type) {
		case []string:
			for _, s := range v {
				list = append(list, Message(listValue, []byte(s))...)
			}
		case []float32:
			kind = floatList
			for _, f := range v {
				packed = protowire.AppendFixed32(packed, math.Float32bits(f))
				list = protowire.AppendFixed32(
					protowire.AppendTag(list, listValue, protowire.Fixed32Type),
					math.Float32bits(f))
			}
		case []int64:
			kind = int64List
			for _, i := range v {
				packed = protowire.AppendVarint(packed, uint64(i))
				list = protowire.AppendVarint(
					protowire.AppendTag(list, listValue, protowire.VarintType), uint64(i))
			}
		}
		if kind != bytesList && !loose {
			list = Message(listValue, packed)
		}
		value := Message(protowire.Number(kind), list)
		if v == nil {
			value = nil
		}
		entry := append(Message(EntryKey, []byte(name)), Message(EntryValue, value)...)
		all = append(all, Message(FeaturesFeature, entry)...)
	}
	return Message(ExampleFeatures, all)
}
