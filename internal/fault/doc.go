// Package fault lets tests make a named point of the program fail.
//
// Code that touches the disk asks [At] before it acts. A normal build answers nil and the call
// disappears; a build with the tag "faults" reads TENSORCACHE_FAULT, so that a daemon, its load
// child and a test agree on what fails:
//
//	TENSORCACHE_FAULT=ENOSPC@reserve      every time the point "reserve" is reached
//	TENSORCACHE_FAULT=ENOSPC@3            the third point reached, whatever its name
//	TENSORCACHE_FAULT=KILL@publish        the process kills itself there
//	TENSORCACHE_FAULT=ENOSPC@reserve#2    the second time that point is reached
//	TENSORCACHE_FAULT=HOLD@ingest.read    it waits there until who has opened the pipe TENSORCACHE_HOLD for writing closes it
package fault
