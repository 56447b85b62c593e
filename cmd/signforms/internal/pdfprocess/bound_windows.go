package pdfprocess

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// bound puts this process into a job whose memory and processor time Windows bounds. The job ends with the process.
func bound(memory uint64) (all bool, err error) {
	jobObject, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return false, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{ProcessMemoryLimit: uintptr(memory)}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY | windows.JOB_OBJECT_LIMIT_PROCESS_TIME
	limits.BasicLimitInformation.PerProcessUserTimeLimit = maxCPU * 10_000_000 // in 100 ns
	if _, err := windows.SetInformationJobObject(jobObject, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		return false, err
	}
	return true, windows.AssignProcessToJobObject(jobObject, windows.CurrentProcess())
}
