package external

import "time"

// BeginWithin makes d the limit for the plug-in to begin with a process, however long its start may
// take.
func (p *Plugin) BeginWithin(d time.Duration) { p.opts.StartTimeout = d }

// Spend takes d off the time that the plug-in has for all its answers.
func (p *Plugin) Spend(d time.Duration) { p.spent.Add(int64(d)) }
