package localllm_test

import (
	"testing"
	"time"

	"storozh/core/localllm"
	"storozh/core/localllm/llmtest"
)

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	const e, j = localllm.FakeEmbedModel, localllm.FakeJudgeModel
	tests := map[string]struct {
		fault llmtest.Option
		want  bool
	}{
		"no such list":       {func(*llmtest.Faults) {}, false},
		"200 for anything":   {func(f *llmtest.Faults) { f.Unexpected200 = true }, false},
		"both loaded":        {func(f *llmtest.Faults) { f.Loaded = map[string]string{e: "loaded", j: "loaded"} }, false},
		"the judge only":     {func(f *llmtest.Faults) { f.Loaded = map[string]string{e: "not-loaded", j: "loaded"} }, true},
		"the embedder only":  {func(f *llmtest.Faults) { f.Loaded = map[string]string{e: "loaded", j: "not-loaded"} }, true},
		"none":               {func(f *llmtest.Faults) { f.Loaded = map[string]string{e: "not-loaded", j: "not-loaded"} }, true},
		"one is not listed":  {func(f *llmtest.Faults) { f.Loaded = map[string]string{e: "not-loaded"} }, false},
		"another word":       {func(f *llmtest.Faults) { f.Loaded = map[string]string{e: "asleep", j: "loaded"} }, false},
		"another shape":      {func(f *llmtest.Faults) { f.LoadedRaw = `{"data":[{"id":7,"state":"loaded"}]}` }, false},
		"a list, no objects": {func(f *llmtest.Faults) { f.LoadedRaw = `{"data":["` + e + `"]}` }, false},
		"not JSON":           {func(f *llmtest.Faults) { f.LoadedRaw = `<html>` }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(t, tt.fault)
			m, err := client(t, s).Resolve(t.Context())
			if err != nil || m.OneAtATime != tt.want || m.Judge != j || len(m.Warnings) != 0 {
				t.Errorf("%+v, %v", m, err)
			}
			if n := s.Counts(); n.Models != 1 || n.Loaded != 1 {
				t.Errorf("%+v", n)
			}
		})
	}
}

// A list that does not come is waited for once, and not for long.
func TestOneAtATimeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.LoadedDelay = time.Hour })
	c := client(t, s)
	for range 20 {
		if m, err := c.Resolve(t.Context()); err != nil || m.OneAtATime {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if n := s.Counts(); n.Models != 20 || n.Loaded != 1 {
		t.Errorf("%+v", n)
	}
}

func TestOneAtATimeIsAskedNowAndThen(t *testing.T) {
	t.Parallel()
	const e, j = localllm.FakeEmbedModel, localllm.FakeJudgeModel
	s := llmtest.Start(t, func(f *llmtest.Faults) { f.Loaded = map[string]string{e: "not-loaded", j: "loaded"} })
	c := client(t, s)
	resolve := func() localllm.Models {
		m, err := c.Resolve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	resolve()
	s.Set(func(f *llmtest.Faults) { f.Loaded = map[string]string{e: "loaded", j: "loaded"} })
	if !resolve().OneAtATime || s.Counts().Loaded != 1 {
		t.Errorf("asked %d times in two", s.Counts().Loaded)
	}
	for range 8 {
		resolve()
	}
	if resolve().OneAtATime || s.Counts().Loaded > 4 {
		t.Errorf("both are loaded by now; asked %d times in eleven", s.Counts().Loaded)
	}
	s.Set(func(f *llmtest.Faults) {
		f.Models, f.Loaded = []string{e, "another"}, map[string]string{e: "loaded", "another": "not-loaded"}
	})
	if !resolve().OneAtATime {
		t.Error("another model was not asked about at once")
	}
}

// A server whose base is not /v1 is none of LM Studio's.
func TestOneAtATimeKnowsOnlyLMStudio(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t)
	m, err := client(t, s, func(c *localllm.Config) { c.BaseURL += "/elsewhere" }).Resolve(t.Context())
	if err != nil || m.OneAtATime || s.Counts().Loaded != 0 {
		t.Errorf("%+v, %v, %+v", m, err, s.Counts())
	}
}
