### Removing queues and ports
# A value for each port that install made or took over, with the id of its printer.
$PortsKey = "$RegistryRoot\Ports"

function Remove-OwnPort {
    # Removes a port that install made, unless a queue uses it. Returns false if Windows still calls it busy.
    param([string]$Name)
    if (-not $Name -or -not (Get-RegistryValue $PortsKey $Name)) { return $true }
    $users = @(Get-Queue | Where-Object PortName -eq $Name)
    if ($users.Count -gt 0) {
        Write-Log "Port $Name stays: $($users[0].Name) uses it."
        return $true
    }
    $port = @(Get-Port | Where-Object Name -eq $Name)[0]
    if ($null -ne $port -and -not (Remove-Port $port)) { return $false }
    Remove-RegistryValue $PortsKey $Name
    return $true
}

function Remove-Port {
    # Returns whether Windows removed it.
    param($Port)
    try { Invoke-Print { Remove-PrinterPort -InputObject $Port -ErrorAction Stop } }
    catch {
        if ((Get-FailureCode $_) -eq $ExitBusy) { throw }
        Write-Log "Port $($Port.Name) is not free yet: $($_.Exception.Message)"
        return $false
    }
    Write-Change "port $($Port.Name) removed"
    return $true
}

function Remove-Queue {
    # Removes a queue, unless Windows already does, and waits until it is no longer listed. Returns whether it is gone.
    param([string]$Name)
    $queue = Get-LocalQueue $Name
    if ($null -eq $queue) { return $true }
    try { Invoke-Print { Remove-Printer -InputObject $queue -ErrorAction Stop } }
    catch { if ((Get-ErrorCode $_) -notin '0x80070771', '0x80070709') { throw } }
    Write-Change "queue $Name removed"
    return Wait-Until 10 { -not (Get-LocalQueue $Name) }
}
