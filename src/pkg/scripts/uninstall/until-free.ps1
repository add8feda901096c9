#region Patience

$MaxWaitForDeletionSeconds = 10

function Invoke-UntilFree {
    # Tries again while Windows still calls something busy: for a while, then once more after a restart of the
    # spooler. Whether it is removed.
    param([string]$What, [scriptblock]$Remove)
    if (Wait-Until $MaxWaitForDeletionSeconds $Remove) { return $true }
    if (-not (Restart-Spooler "$What is still called busy")) { return $false }
    return Wait-Until $MaxWaitForDeletionSeconds $Remove
}

#endregion
