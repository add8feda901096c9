#<if options>
### Permissions and jobs of the queue
function Set-QueuePermission {
    # Windows changes the text, so the marker keeps what was wanted and what was read back.
    param($Printer)
    $marker = Get-MarkerPath $Printer
    $wanted = $Printer.PermissionSddl
    if (-not $wanted) { return }
    $isSet = (Get-RegistryValue $marker 'Permission') -ceq $wanted -and (Get-RegistryValue $marker 'PermissionRead') -ceq (Get-QueuePermission $Printer)
    if ($isSet -or -not (Confirm-Change "set the permissions of $($Printer.Name)")) { return }
    Invoke-Print { Set-Printer -InputObject (Get-LocalQueue $Printer.Name) -PermissionSDDL $wanted -ErrorAction Stop }
    Set-RegistryValue $marker 'Permission' $wanted
    Set-RegistryValue $marker 'PermissionRead' (Get-QueuePermission $Printer)
    Write-Change "the permissions of $($Printer.Name) are $wanted"
}

function Get-QueuePermission {
    param($Printer)
    $queue = @(Invoke-Print { Get-Printer -Full -ErrorAction Stop } | Where-Object Name -eq $Printer.Name)[0]
    return [string](Get-Property $queue 'PermissionSDDL')
}

function Set-QueueOption {
    # Only WMI has both options.
    param($Printer)
    $wanted = @{}
    if ($Printer.KeepPrinted) { $wanted.KeepPrintedJobs = $true }
    if ($Printer.HoldMismatched) { $wanted.EnableDevQueryPrint = $true }
    if ($wanted.Count -eq 0) { return }
    $queue = Get-WmiQueue $Printer
    $missing = @{}
    foreach ($name in $wanted.Keys) { if (-not (Get-Property $queue $name)) { $missing[$name] = $true } }
    $what = "switch on for $($Printer.Name): $(@($missing.Keys | Sort-Object) -join ', ')"
    if ($missing.Count -eq 0 -or -not (Confirm-Change $what)) { return }
    try { Invoke-Print { Set-CimInstance -InputObject $queue -Property $missing -ErrorAction Stop } }
    catch {
        if ((Get-FailureCode $_) -eq $ExitBusy) { throw }
        Write-Log "Win32_Printer: $($_.Exception.Message)"
    }
    $queue = Get-WmiQueue $Printer
    foreach ($name in @($missing.Keys | Sort-Object)) {
        if (Get-Property $queue $name) { Write-Change "$name of $($Printer.Name) is on" }
        else { Add-Remark "Windows does not switch on $name" }
    }
}

function Get-WmiQueue {
    param($Printer)
    return @(Invoke-Print { Get-CimInstance -ClassName 'Win32_Printer' -ErrorAction Stop } | Where-Object Name -eq $Printer.Name)[0]
}
#</if>
