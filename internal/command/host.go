package command

// Host runs plug-ins.
type Host interface{}
