// Package fault lets tests make a named point of the program fail.
//
// Code that uses the disk calls [At] first. In a normal build it returns nil and the compiler
// removes the call. A build with the tag "faults" reads the fault from TENSORCACHE_FAULT, which
// the daemon and the processes of its loads inherit:
//
//	TENSORCACHE_FAULT=ENOSPC@reserve      every time the point "reserve" is reached
//	TENSORCACHE_FAULT=ENOSPC@3            the third point reached, with any name
//	TENSORCACHE_FAULT=KILL@publish        the process kills itself there
//	TENSORCACHE_FAULT=ENOSPC@reserve#2    the second time that point is reached
//	TENSORCACHE_FAULT=HOLD@ingest.read    the process waits there until another one, which has
//	                                      opened the pipe TENSORCACHE_HOLD for writing, closes it
package fault
