package external

import "time"

// BeginWithin has the plug-in begin with a process within d, however long its start may take.
func (p *Plugin) BeginWithin(d time.Duration) { p.opts.StartTimeout = d }

// Spend takes d off what the plug-in has for all its answers.
func (p *Plugin) Spend(d time.Duration) { p.spent.Add(int64(d)) }
