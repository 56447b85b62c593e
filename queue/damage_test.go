package queue_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
)

// fill stores an event in each of n lines, and closes the queue.
func (s stage) fill(n int) {
	s.Helper()
	o := &queue.Options{}
	o.SetClocks(virtualClocks())
	q, close, err := s.open(s.Context(), o)
	require.NoError(s, err)
	for i := range n {
		s.accept(q, completed(fmt.Sprintf("%03d", i+1), 1))
	}
	require.NoError(s, close())
}

// A queue opens although its newest events are damaged, and the others are processed.
func TestDamagedNewestEvents(t *testing.T) {
	eachStoreVirtually(t, func(s stage) {
		s.fill(6)
		mend := s.damage(2, 4, 6)
		var log logged
		q := s.queue(&queue.Options{Logger: log.logger(), Workers: 1})
		var j journal
		s.run(q, j.noting(nil))
		time.Sleep(5 * time.Minute)
		require.Equal(s, []string{"001/1", "003/1", "005/1"}, j.sorted())
		n := log.count("an event cannot be read")
		require.GreaterOrEqual(s, n, 3)
		require.LessOrEqual(s, n, 3*6, "once a minute and line")
		require.Zero(s, log.count("erasing what is not kept"))
		mend()
		time.Sleep(2 * time.Minute)
		require.Len(s, j.sorted(), 6)
	})
}

// A whole page of the newest events is damaged, so that not even their ids can be read.
func TestDamagedNewestPage(t *testing.T) {
	file := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(2 * 365 * 24 * time.Hour) // as eachStoreVirtually does
		s := stage{t, file, true}
		s.fill(300)
		pages := s.pages("signforms_events")
		require.Greater(s, len(pages), 3)
		s.spoil(pages[len(pages)-1])
		q := s.queue(nil)
		var j journal
		s.run(q, j.noting(nil))
		time.Sleep(time.Minute)
		require.Greater(s, len(j.sorted()), 270)
	})
}

// pages are the numbers of a table's leaf pages, in the order of ids.
func (s stage) pages(table string) (numbers []int64) {
	s.Helper()
	db, err := sql.Open("sqlite", "file:"+string(s.where))
	require.NoError(s, err)
	defer db.Close()
	rows, err := db.QueryContext(s.Context(), "SELECT pageno FROM dbstat WHERE name = $1 AND pagetype = 'leaf' ORDER BY path", table)
	require.NoError(s, err)
	defer rows.Close()
	for rows.Next() {
		var n int64
		require.NoError(s, rows.Scan(&n))
		numbers = append(numbers, n)
	}
	require.NoError(s, rows.Err())
	return numbers
}

// spoil overwrites a page of a file that nobody has open.
func (s stage) spoil(page int64) {
	s.Helper()
	const size = 4096
	f, err := os.OpenFile(string(s.where), os.O_RDWR, 0)
	require.NoError(s, err)
	_, err = f.WriteAt(bytes.Repeat([]byte{0xee}, size), (page-1)*size)
	require.NoError(s, err)
	require.NoError(s, f.Close())
}
