package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tensorcache/tensorcache/internal/wire"
)

// writeSnapshot writes a snapshot as lines: memory, jobs, feeds, datasets. Empty lists have no
// lines.
func writeSnapshot(w io.Writer, l *snapshot) error {
	size := func(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
	m := l.Machine.Memory
	printLine(w, "%s  %s", l.Time.Format(time.DateTime), l.Machine.Dir)
	fmt.Fprintf(w,
		"memory  [%s] %s of %s: datasets %s, rings %s, loads %s; pinned %s; available %s\n",
		gauge(float64(m.Resident+m.Rings+m.Loading)/float64(max(m.Budget, 1))),
		size(m.Resident+m.Rings+m.Loading), size(m.Budget), size(m.Resident), size(m.Rings),
		size(m.Loading), size(m.Pinned), size(m.Available))
	fmt.Fprintf(w, "disk    %s free of %s %s; descriptors %d of %d\n", size(l.Machine.Disk.Free),
		size(l.Machine.Disk.Total), l.Machine.Disk.Filesystem, l.Machine.Descriptors.Open,
		l.Machine.Descriptors.Limit)
	if rows := jobRows(l.Jobs); len(rows) > 1 {
		fmt.Fprintln(w)
		if err := table(w, rows); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	if len(l.Feeds) == 0 {
		fmt.Fprintln(w, "no trainer is attached")
	} else if err := table(w, feedRows(l.Feeds)); err != nil {
		return err
	}
	if len(l.Datasets) > 0 {
		fmt.Fprintln(w)
		if err := table(w, datasetRows(l.Datasets)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

func jobRows(jobs []wire.Job) [][]any {
	rows := [][]any{{"JOB", "KIND", "DATASET", "STATE", "PHASE", "PROGRESS", "LEFT"}}
	for _, j := range jobs {
		rest := "-"
		if j.EtaS != nil {
			rest = strings.TrimSuffix(formatRemaining(*j.EtaS), " left")
		}
		rows = append(rows, []any{j.Job, j.Kind, j.Dataset, j.State, j.Phase,
			"[" + gauge(j.Progress) + "] " + percent(j.Progress), rest})
	}
	return rows
}

func feedRows(feeds []feedRate) [][]any {
	rows := [][]any{{"FEED", "DATASET", "PID", "DELIVERY", "EPOCH", "BATCHES", "BATCHES/S", "WAITS",
		"IDLE", "RING", "VERDICT"}}
	for _, f := range feeds {
		rows = append(rows, []any{
			f.Feed.Feed, f.Dataset, pidText(f.PID), f.Delivery, f.Epoch, humanize.Comma(f.Batches),
			fmt.Sprintf("%.1f", f.BatchesPerS), percent(f.WaitDataShare),
			percent(f.WaitTrainerShare),
			humanize.IBytes(uint64(f.SlotBytes) * uint64(f.Slots)), inHint(f.Verdict),
		})
	}
	return rows
}

func datasetRows(datasets []wire.Dataset) [][]any {
	rows := [][]any{{"DATASET", "GENERATION", "SIZE", "IN MEMORY", "READERS"}}
	for _, d := range datasets {
		bar := ""
		if d.ResidentBytes != nil {
			bar = "[" + gauge(float64(*d.ResidentBytes)/float64(max(d.Bytes, 1))) + "] "
		}
		rows = append(rows, []any{d.Dataset, d.Generation, humanize.IBytes(uint64(d.Bytes)),
			bar + memoryText(d), d.Readers})
	}
	return rows
}

const gaugeWidth = 20

// gauge returns a bar of a share.
func gauge(share float64) string {
	filled := int(min(max(share, 0), 1)*gaugeWidth + 0.5)
	return strings.Repeat("#", filled) + strings.Repeat(".", gaugeWidth-filled)
}
