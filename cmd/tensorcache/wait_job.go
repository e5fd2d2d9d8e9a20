package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

// jobMode returns the mode of connect for a job: a load makes the cache directory.
func jobMode(route string) startMode {
	if route == loadRoute {
		return makeDirectory
	}
	return inDirectory
}

// runJob starts a job on a dataset and waits for its end.
func (o *options) runJob(cmd *cobra.Command, name, route string, body any) (wire.Job, error) {
	c, err := o.connect(jobMode(route))
	if err != nil {
		return wire.Job{}, err
	}
	defer c.Close()
	var job wire.Job
	if err := c.Post(cmd.Context(), control.Dataset(name, route), body, &job); err != nil {
		return job, err
	}
	return waitForJob(cmd, c, job)
}

// waitForJob waits for a job that this command has started. An interrupt cancels the job, unless it
// has other owners. If the job failed, it returns the error.
func waitForJob(cmd *cobra.Command, c *control.Client, job wire.Job) (wire.Job, error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	bar := newProgressBar(cmd.ErrOrStderr())
	defer bar.clear()
	owner := job.Owner
	for !job.Ended() {
		bar.show(job)
		err := c.Get(ctx, "/v1/jobs/"+job.Job+"?wait_ms="+bar.waitMS(), &job)
		if ctx.Err() != nil {
			if err := c.Delete(context.WithoutCancel(ctx), "/v1/jobs/"+job.Job+"?owner="+owner,
				&job); err != nil {
				return job, err
			}
			if !job.Ended() {
				return job, fmt.Errorf(
					"interrupted; the %s of %s goes on, since others wait for it",
					job.Kind, job.Dataset)
			}
			break
		}
		if err != nil {
			return job, err
		}
	}
	if job.Error != nil {
		return job, job.Error
	}
	return job, nil
}
