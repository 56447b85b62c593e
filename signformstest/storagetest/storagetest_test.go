package storagetest_test

import (
	"testing"

	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/signformstest/storagetest"
)

func TestMemory(t *testing.T) {
	storagetest.Run(t, func(*testing.T) (signformstest.Storage, func() signformstest.Storage) {
		m := &storagetest.Memory{}
		return m, func() signformstest.Storage {
			m = m.Copy()
			return m
		}
	})
}
