// Package record finds out where programs spend their time: it samples their stacks, as the kernel
// copies them, and walks each as it comes.
//
// What enters: records of [github.com/sfwalk/sfwalk/format/perfevent], of a live process or from a
// file of perf's. A sample has the registers and the inner part of the stack; [frame.Walker] walks
// it, with the sniffers of a [frame.Table]. So programs need no frame pointers, and nothing of the
// stacks is kept but the addresses. What leaves: a [Profile], the tree of all stacks with how often
// each was found, which becomes a [picture.Stacks].
//
// The stack of a sample is never silently short: it ends in the outermost frame, or in a frame that
// says why it does not.
package record
