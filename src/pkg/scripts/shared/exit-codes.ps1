#region Exit codes and failures

# As Windows Installer has them: Intune and RMM tools know them without being told.
$script:ExitDone = 0
$script:ExitFailed = 1603
$script:ExitBusy = 1618
$script:ExitRestarting = 1641
$script:ExitRestartNeeded = 3010

# What Windows asked for during this run.
$script:RebootCode = $script:ExitDone

function Stop-Run {
    # Ends the work on a printer with a message and an exit code.
    param([string]$Message, [int]$Code = $script:ExitFailed)
    $exception = New-Object -TypeName InvalidOperationException -ArgumentList $Message
    $exception.Data['PlatenCode'] = $Code
    throw $exception
}

function Get-FailureCode {
    # The exit code that a caught error stands for.
    param($ErrorRecord)
    $exception = $ErrorRecord.Exception
    if ($exception.Data.Contains('PlatenCode')) { return [int]$exception.Data['PlatenCode'] }
    return $script:ExitFailed
}

#endregion
