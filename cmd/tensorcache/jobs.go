package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/tensorcache/tensorcache/internal/control"
	"github.com/tensorcache/tensorcache/internal/wire"
)

func newJobs(o *options) *cobra.Command {
	var asJSON bool
	var cancel, state, dataset string
	cmd := &cobra.Command{
		Use: "jobs", Short: "list the loads and other jobs; cancel one", Args: cobra.NoArgs,
		Long: `List the jobs that run and the last 100 that ended, oldest first. With --cancel
one is ended, for all who wait for it; nothing of it is left.`,
		Example: "  tensorcache jobs --state running",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.connect(inDirectory)
			if err != nil {
				return err
			}
			defer c.Close()
			if cancel != "" {
				return cancelJob(cmd, c, cancel, asJSON)
			}
			list, err := listJobs(cmd.Context(), c, state, dataset)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), wire.Jobs{Jobs: list})
			}
			rows := [][]any{{"JOB", "KIND", "DATASET", "STATE", "PROGRESS", "ROWS",
				"TIME", "ERROR"}}
			flags := flagsFor(cmd)
			for _, j := range list {
				why := ""
				if j.Error != nil {
					why = flags.inMessage(j.Error.Detail, j.Error.Field)
				}
				elapsed := time.Duration(j.Seconds * float64(time.Second)).Round(time.Millisecond)
				rows = append(rows, []any{j.Job, j.Kind, j.Dataset, j.State, percent(j.Progress),
					humanize.Comma(j.Rows), elapsed, why})
			}
			return table(cmd.OutOrStdout(), rows)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().StringVar(&cancel, "cancel", "", "end this `job`")
	cmd.Flags().StringVar(&state, "state", "",
		"list those in this `state` alone: queued, running, done, failed or cancelled")
	cmd.Flags().StringVar(&dataset, "dataset", "", "list those of this `dataset` alone")
	return cmd
}

func listJobs(ctx context.Context, c *control.Client, state, dataset string) ([]wire.Job, error) {
	q := url.Values{}
	for name, value := range map[string]string{"state": state, "dataset": dataset} {
		if value != "" {
			q.Set(name, value)
		}
	}
	path := "/v1/jobs"
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return control.List[wire.Jobs](ctx, c, path)
}

// cancelJob cancels a job. A job that has ended stays as it is.
func cancelJob(cmd *cobra.Command, c *control.Client, id string, asJSON bool) error {
	var job wire.Job
	if err := c.Delete(cmd.Context(), "/v1/jobs/"+url.PathEscape(id), &job); err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), job)
	}
	if job.State != wire.JobCancelled {
		fmt.Fprintf(cmd.OutOrStdout(), "%s had ended before: %s\n", job.Job, job.State)
		return nil
	}
	fmt.Fprintf(cmd.OutOrStdout(), "cancelled %s\n", job.Job)
	return nil
}
