### Exit codes and failures
# Intune and RMM tools know these codes of Windows Installer.
$ExitDone = 0
$ExitFailed = 1603
$ExitBusy = 1618
#<if install>
$ExitRestarting = 1641
$ExitRestartNeeded = 3010
# One of the last two if Windows asks for a restart.
$script:RebootCode = $ExitDone
#</if>

function Stop-Run {
    # Ends the work on a printer with a message and an exit code.
    param([string]$Message, [int]$Code = $ExitFailed)
    $exception = [InvalidOperationException]::new($Message)
    $exception.Data['PlatenCode'] = $Code
    throw $exception
}

function Get-FailureCode {
    # The exit code of a caught error.
    param($ErrorRecord)
    if ($ErrorRecord.Exception.Data['PlatenCode']) { return $ErrorRecord.Exception.Data['PlatenCode'] }
    return $ExitFailed
}
