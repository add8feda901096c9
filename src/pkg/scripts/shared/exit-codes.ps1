#region Exit codes and failures

# As Windows Installer has them: Intune and RMM tools know them without being told.
$ExitDone = 0
$ExitFailed = 1603
$ExitBusy = 1618
$ExitRestarting = 1641
$ExitRestartNeeded = 3010

$script:RebootCode = $ExitDone

function Stop-Run {
    # Ends the work on a printer with a message and an exit code.
    param([string]$Message, [int]$Code = $ExitFailed)
    $exception = [InvalidOperationException]::new($Message)
    $exception.Data['PlatenCode'] = $Code
    throw $exception
}

function Get-FailureCode {
    # The exit code that a caught error stands for.
    param($ErrorRecord)
    $code = $ErrorRecord.Exception.Data['PlatenCode']
    if ($code) { return $code }
    return $ExitFailed
}

#endregion
