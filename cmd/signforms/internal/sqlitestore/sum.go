package sqlitestore

import (
	"database/sql/driver"
	"fmt"
	"hash/crc32"

	"modernc.org/sqlite"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// recordSum is the checksum of a record.
func recordSum(kind, id string, data []byte) int64 {
	sum := crc32.Update(0, castagnoli, []byte(kind+"\x00"+id+"\x00"))
	return int64(crc32.Update(sum, castagnoli, data))
}

// The migration to checksums calls record_sum(kind, id, data).
func init() {
	sqlite.MustRegisterDeterministicScalarFunction("record_sum", 3, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		data, ok := args[2].([]byte)
		if text, isText := args[2].(string); isText {
			data, ok = []byte(text), true
		}
		if !ok {
			return nil, fmt.Errorf("%v %v holds neither text nor bytes", args[0], args[1])
		}
		return recordSum(fmt.Sprint(args[0]), fmt.Sprint(args[1]), data), nil
	})
}
