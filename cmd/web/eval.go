package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"storozh/cmd/web/app"
	"storozh/core"
	sets "storozh/core/eval"
	"storozh/core/localllm"
)

// evalSecret keys the codes of the prompts. The labelled texts are ours and guess nothing, so it can be the same everywhere: the same
// set is asked in the same bytes.
const evalSecret = "labelled set"

// evalOptions are the flags of `web eval`.
type evalOptions struct {
	set  string
	only string
	swap bool
	json bool
	keep bool
	out  string
}

func parseEval(args []string) (evalOptions, error) {
	var o evalOptions
	var usage bytes.Buffer
	f := flag.NewFlagSet("web eval", flag.ContinueOnError)
	f.SetOutput(&usage)
	f.StringVar(&o.set, "set", sets.Dev, "labelled pairs to judge: dev, test or all")
	f.StringVar(&o.only, "only", "", "measure only the judge, or only the retrieval")
	f.BoolVar(&o.swap, "swap", false, "ask each pair again with the unit shown first, to see whether the order matters")
	f.BoolVar(&o.json, "json", false, "print JSON, with every single answer, instead of tables")
	f.BoolVar(&o.keep, "store", true, "keep the figures in the database, where /eval shows them")
	f.StringVar(&o.out, "out", "", "write to this file instead of the terminal")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return o, helpText(usage.String())
	case err != nil:
		return o, fmt.Errorf("%s", bytes.TrimSpace(usage.Bytes()))
	case f.NArg() > 0:
		return o, fmt.Errorf("eval: %q is not a flag; web eval -h lists them", f.Arg(0))
	case o.only != "" && o.only != "judge" && o.only != "retrieval":
		return o, fmt.Errorf("eval: --only %q: use judge or retrieval", o.only)
	}
	return o, nil
}

// helpText is the help that was asked for: no fault, but the end of the command.
type helpText string

func (h helpText) Error() string { return string(h) }

// evaluation is what --json prints.
type evaluation struct {
	core.Evaluation
	Server  string        `json:"server"`
	Answers []sets.Answer `json:"answers,omitempty"`
}

// eval measures the configured model on the labelled sets, prints the figures and keeps them.
func (c commands) eval(ctx context.Context, args []string) error {
	o, err := parseEval(args)
	var help helpText
	switch {
	case errors.As(err, &help):
		_, err = fmt.Fprint(c.out, string(help))
		return err
	case err != nil:
		return err
	}
	set, err := sets.Load(o.set)
	if err != nil {
		return err
	}
	var model localllm.Model = localllm.NewFake()
	if !c.cfg.Demo {
		if model, err = localllm.New(c.cfg.LLM); err != nil {
			return err
		}
	}
	e, err := c.measure(ctx, model, set, o)
	if err != nil {
		return err
	}
	if o.keep {
		c.keepEvaluation(ctx, &e)
	}
	return c.printEvaluation(e, o)
}

// measure asks the model. Embeddings come first: a server that holds one model at a time changes it once.
func (c commands) measure(ctx context.Context, m localllm.Model, set sets.Set, o evalOptions) (evaluation, error) {
	start := time.Now()
	e := evaluation{Evaluation: core.Evaluation{At: start.UTC().Truncate(time.Second), Demo: m.Demo()}, Server: m.URL()}
	models, err := m.Resolve(ctx)
	if err != nil {
		return e, fmt.Errorf("the model cannot be asked: %w (set STOROZH_LLM_URL to where it is)", err)
	}
	for _, w := range models.Warnings {
		c.say("warning: " + w)
	}
	opt := sets.Options{Secret: []byte(evalSecret), Concurrency: c.cfg.Concurrency, Swap: o.swap, Clock: time.Now, Models: models}
	if o.only != "judge" {
		opt.Progress = c.progress("texts embedded")
		switch r, err := sets.Recall(ctx, m, opt); {
		case ctx.Err() != nil:
			return e, fmt.Errorf("stopped before the end: %w", ctx.Err())
		case err != nil:
			e.Left = append(e.Left, "retrieval: "+err.Error())
		default:
			e.Retrieval = &r
		}
	}
	if o.only != "retrieval" {
		opt.Progress = c.progress("pairs judged")
		s, answers, err := sets.Judge(ctx, m, set, opt)
		if err != nil {
			return e, err
		}
		e.Judge, e.Answers = &s, answers
	}
	e.Took = time.Since(start)
	if e.Judge == nil && e.Retrieval == nil {
		return e, errors.New("nothing was measured: " + e.Left[0])
	}
	return e, nil
}

// progress tells every tenth of the way.
func (c commands) progress(what string) func(done, of int) {
	said := 0
	return func(done, of int) {
		if tenth := 10 * done / of; tenth > said {
			said = tenth
			c.say(fmt.Sprintf("%d of %d %s", done, of, what))
		}
	}
}

// keepEvaluation stores the figures, through the running process if there is one. Figures that cannot be stored are still printed, so
// this is a remark and no failure.
func (c commands) keepEvaluation(ctx context.Context, e *evaluation) {
	save := func(d app.Desk) (err error) {
		e.ID, err = d.SaveEvaluation(ctx, e.Evaluation)
		return err
	}
	var err error
	if r, ok := app.Dial(ctx, c.cfg.DataDir); ok {
		err = save(r)
	} else {
		var a *app.App
		if a, err = app.Open(ctx, c.cfg, c.log, c.say); err == nil {
			err = errors.Join(save(a), a.Close())
		}
	}
	if err != nil {
		e.Left = append(e.Left, "not stored: "+err.Error())
	}
}

func (c commands) printEvaluation(e evaluation, o evalOptions) error {
	text := evalText(e)
	if o.json {
		b, err := json.MarshalIndent(e, "", "  ")
		if err != nil {
			return err
		}
		text = string(b) + "\n"
	}
	if o.out != "" {
		if err := os.WriteFile(o.out, []byte(text), 0o644); err != nil {
			return fmt.Errorf("the report cannot be written: %w", err)
		}
		c.say("written to " + o.out)
		return nil
	}
	_, err := c.out.Write([]byte(text))
	return err
}
