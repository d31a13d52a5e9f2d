// Package app wires Storozh's parts into one process: database, guard, workers, file watch, write-back, HTTP and the control socket.
//
// Data's way: a manifest is submitted (webhook, watched file, command line) and durable with a queued run; a worker claims the run, takes
// it through the guard and finishes it in one transaction; the writer brings the block to the manifest's file. Each step can be killed:
// the next start goes on from what the database holds.
//
// The package reads no environment: everything comes in a [Config].
package app
