package tfrecord

import (
	"errors"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tensorcache/tensorcache/internal/ingest/column"
	"github.com/tensorcache/tensorcache/internal/ingest/source"
)

// Field numbers of tf.train.Example and its nested messages
// (tensorflow/core/example/{example,feature}.proto).
const (
	exampleFeatures = 1
	exampleLists    = 2 // of a tf.train.SequenceExample
	featuresFeature = 1
	entryKey        = 1
	entryValue      = 2
	listValue       = 1
)

// listKind is the kind of a feature's list, by the number of its field in tf.train.Feature.
type listKind uint8

const (
	noList listKind = iota
	bytesList
	floatList
	int64List
)

func (k listKind) String() string {
	return [...]string{"nothing", "a bytes_list", "a float_list", "an int64_list"}[k]
}

// feature is one undecoded feature of an Example. It refers to bytes of the record.
type feature struct {
	name []byte
	list listKind
	body []byte // the encoded message of the list
}

// Errors of parsing a record. The message continues "the record".
var (
	errProto    = errors.New("is not a tf.train.Example")
	errSequence = errors.New("is a tf.train.SequenceExample, which is not read")
)

// eachField calls f with each field of a message. value is the content of a length-delimited field,
// or the encoded value of a field of another type.
func eachField(b []byte, f func(n protowire.Number, t protowire.Type, value []byte) error) error {
	for len(b) > 0 {
		n, t, size := protowire.ConsumeTag(b)
		if size < 0 {
			return errProto
		}
		b = b[size:]
		if size = protowire.ConsumeFieldValue(n, t, b); size < 0 {
			return errProto
		}
		value := b[:size]
		if t == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		if err := f(n, t, value); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}

// parseExample calls f with each feature of an Example.
func parseExample(record []byte, f func(feature) error) error {
	return eachField(record, func(n protowire.Number, t protowire.Type, features []byte) error {
		if n == exampleLists {
			return errSequence
		}
		if n != exampleFeatures || t != protowire.BytesType {
			return errProto
		}
		return eachField(features, func(n protowire.Number, t protowire.Type, entry []byte) error {
			if n != featuresFeature || t != protowire.BytesType {
				return errProto
			}
			x, err := parseEntry(entry)
			if err != nil {
				return err
			}
			return f(x)
		})
	})
}

// parseEntry parses a map entry: a name and its Feature. It refuses unknown and repeated fields,
// which protobuf would ignore or merge, because no writer produces them.
func parseEntry(entry []byte) (x feature, err error) {
	keys, values := 0, 0
	err = eachField(entry, func(n protowire.Number, t protowire.Type, v []byte) error {
		switch {
		case t != protowire.BytesType:
			return errProto
		case n == entryKey:
			x.name = v
			keys++
			return nil
		case n != entryValue:
			return errProto
		}
		values++
		return eachField(v, func(n protowire.Number, t protowire.Type, list []byte) error {
			if t != protowire.BytesType || n > protowire.Number(int64List) || x.list != noList {
				return errProto
			}
			x.list, x.body = listKind(n), list
			return nil
		})
	})
	if err == nil && (keys > 1 || values > 1) {
		err = errProto
	}
	return x, err
}

// count returns the number of values of a feature.
func (x feature) count() (n int64, err error) {
	err = x.each(func(uint64, []byte) error { n++; return nil })
	return n, err
}

// each calls f with each value: the bits of a number, or the bytes of a text.
func (x feature) each(f func(bits uint64, word []byte) error) error {
	return eachField(x.body, func(n protowire.Number, t protowire.Type, v []byte) error {
		if n != listValue {
			return errProto
		}
		if x.list == bytesList {
			if t != protowire.BytesType {
				return errProto
			}
			return f(0, v)
		}
		// Numbers are either packed into one field, or in one field each.
		for unpacked := t != protowire.BytesType; len(v) > 0; {
			bits, size := uint64(0), -1
			if x.list == floatList && (!unpacked || t == protowire.Fixed32Type) {
				var b uint32
				b, size = protowire.ConsumeFixed32(v)
				bits = uint64(b)
			} else if x.list == int64List && (!unpacked || t == protowire.VarintType) {
				bits, size = protowire.ConsumeVarint(v)
			}
			if size < 0 {
				return errProto
			}
			if err := f(bits, nil); err != nil {
				return err
			}
			v = v[size:]
		}
		return nil
	})
}

// write writes the feature's values to a row of the target. It collects them in buffers.
func (x feature) write(t source.Target, row int64, buffers *rowBuffers) error {
	buffers.floats, buffers.ints = buffers.floats[:0], buffers.ints[:0]
	err := x.each(func(bits uint64, word []byte) error {
		switch x.list {
		case floatList:
			buffers.floats = append(buffers.floats, math.Float32frombits(uint32(bits)))
		case int64List:
			buffers.ints = append(buffers.ints, int64(bits))
		default:
			if err := source.CheckText(word, t.Role, row); err != nil {
				return err
			}
			column.Write(t.Dest, t.Row0+row, []int32{t.Words.Code(word)})
		}
		return nil
	})
	if err != nil || x.list == bytesList {
		return err
	}
	if x.list == floatList {
		if bad := column.Write(t.Dest, t.Row0+row, buffers.floats); bad >= 0 {
			return t.RangeError(row+1, buffers.floats[bad])
		}
	} else if bad := column.Write(t.Dest, t.Row0+row, buffers.ints); bad >= 0 {
		return t.RangeError(row+1, buffers.ints[bad])
	}
	return nil
}

// rowBuffers are reused buffers for the values of one row.
type rowBuffers struct {
	floats []float32
	ints   []int64
}
