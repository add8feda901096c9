#region Results

# The width of the table where the window's width is unknown.
$TableWidth = 120
# One row for each app that the run looked at.
$script:Rows = @()
# Since the current app was begun.
$script:RowClock = [Diagnostics.Stopwatch]::StartNew()

function Write-Failure {
    param([string]$Text)
    Write-Line "Failed: $Text"
}

function Stop-Interrupted {
    $script:ExitCode = 1
    Write-Line 'Interrupted. Run this script again: it continues where this run stopped.'
    # A person's window stays open. A process that was started for this script would end with 0.
    $file = [IO.Path]::GetFileName($PSCommandPath)
    $given = @([Environment]::GetCommandLineArgs())
    $isAlone = @($given | Where-Object { $_.EndsWith($file, [StringComparison]::OrdinalIgnoreCase) }).Count -gt 0
    if ($isAlone -and $given -notcontains '-NoExit') { $Host.SetShouldExit(1) }
}

function Test-Go {
    # Returns whether to make a change: not with -WhatIf, nor when a person declines it at -Confirm.
    param([string]$Name, [string]$What)
    Clear-Step
    # ShouldProcess would write to STDOUT.
    if ($AsJson -and $WhatIfPreference) { return $false }
    if ($script:Run.ShouldProcess($Name, $What)) { return $true }
    if (-not $WhatIfPreference) { $script:IsDeclined = $true }
    return $false
}

function Add-Row {
    # Notes the result for an app. $Result: Created, Updated, Unchanged, Pending, Removed, LeftOut or Failed.
    param([string]$Name, [string]$Result, [string[]]$Changed = @(), [string]$Reason = '', [string]$AppId = '')
    $row = [pscustomobject][ordered]@{
        Tenant = (Get-TenantText)
        Client = [string]$script:Target.Client
        Name = $Name
        AppId = $AppId
        Result = $Result
        Changed = @($Changed | Where-Object { $_ })
        Seconds = [Math]::Round($script:RowClock.Elapsed.TotalSeconds, 1)
        Reason = $Reason
    }
    $script:RowClock.Restart()
    $script:Rows += $row
    $detail = Get-Detail $row
    if ($detail) { $detail = ": $detail" }
    Write-Line "$Name - $Result$detail"
    if ($PassThru) { Write-Output $row }
}

function Get-TenantText {
    # The tenant of the client, else that of the account.
    $given = [string]$script:Target.Tenant
    if ($given -eq 'organizations' -and $null -ne $script:Access -and $script:Access.TenantId) { return $script:Access.TenantId }
    return $given
}

function Get-Detail {
    param($Row)
    return @(@($Row.Changed -join ', ') + $Row.Reason | Where-Object { $_ }) -join '; '
}

function Write-Result {
    # The table and the numbers, or JSON.
    Clear-Step
    if ($AsJson) {
        # ASCII, because 5.1 writes in the code page of the console.
        $json = [regex]::Replace((ConvertTo-Json -InputObject @($script:Rows) -Depth 4), '[^\x00-\x7f]', { param($Match) '\u{0:x4}' -f [int][char]$Match.Value })
        return [Console]::Out.WriteLine($json)
    }
    if ($script:Rows.Count -eq 0) { return }
    $clients = @($script:Rows | ForEach-Object { $_.Client } | Select-Object -Unique)
    Write-Person ''
    foreach ($client in $clients) {
        $rows = @($script:Rows | Where-Object { $_.Client -eq $client })
        $title = @($client, 'Without a client' | Where-Object { $_ })[0]
        if ($clients.Count -gt 1) { Write-Person "$title ($(@($rows[0].Tenant, 'no tenant' | Where-Object { $_ })[0]))" }
        Write-Table $rows
    }
    if ($script:Rows.Count -gt 1) { Write-Line (Get-Totals) }
}

function Write-Table {
    # Format-Table would wait for all rows, and 5.1 measures only the first ones.
    param($Rows)
    $width = 4
    $most = [Math]::Max(24, (Get-WindowWidth) - 30)
    foreach ($row in $Rows) { $width = [Math]::Max($width, [Math]::Min($most, $row.Name.Length)) }
    Write-Person ('App'.PadRight($width) + '  ' + 'Result'.PadRight(9) + '  Detail')
    foreach ($row in $Rows) {
        $name = $row.Name
        if ($name.Length -gt $width) { $name = $name.Substring(0, $width - 3) + '...' }
        Write-Person ($name.PadRight($width) + '  ' + $row.Result.PadRight(9) + '  ' + (Get-Detail $row)).TrimEnd()
    }
    Write-Person ''
}

function Get-Totals {
    # Such as: 30 Created, 2 Failed
    $counts = [ordered]@{}
    foreach ($row in $script:Rows) { $counts[$row.Result] = 1 + $counts[$row.Result] }
    return @($counts.Keys | ForEach-Object { "$($counts[$_]) $_" }) -join ', '
}

function Get-ExitCode {
    # 1 if everything failed, 2 if something did, 3 if changes are pending, else 0.
    $failed = @($script:Rows | Where-Object { $_.Result -eq 'Failed' }).Count
    $done = @($script:Rows | Where-Object { $_.Result -notin 'Failed', 'LeftOut' }).Count
    if ($failed -gt 0 -and $done -eq 0) { return 1 }
    if ($failed -gt 0) { return 2 }
    if (@($script:Rows | Where-Object { $_.Result -eq 'Pending' }).Count -gt 0) { return 3 }
    return 0
}

function Get-WindowWidth {
    # In characters. Not every host has a window.
    try {
        $width = $Host.UI.RawUI.WindowSize.Width
        if ($width -gt 0) { return $width }
    }
    catch {
        Write-Log 'There is no window'
    }
    return $TableWidth
}

#endregion
