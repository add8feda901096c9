#region Patience

$script:MaxWaitForDeletionSeconds = 10

function Invoke-UntilFree {
    # Tries again while Windows still calls something busy: for a while, then once more after a restart of the
    # spooler. Whether it is removed.
    param([string]$What, [scriptblock]$Remove)
    if (Wait-Until -Seconds $script:MaxWaitForDeletionSeconds -Condition $Remove) { return $true }
    if (-not (Restart-Spooler -Because "$What is still called busy")) { return $false }
    return Wait-Until -Seconds $script:MaxWaitForDeletionSeconds -Condition $Remove
}

#endregion
