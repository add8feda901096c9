#region Ports that are left behind

function Test-PortForeign {
    # Whether other queues than these use the port.
    param([string]$Name, [string[]]$Queues)
    foreach ($queue in @(Invoke-Print -Command { Get-Printer -ErrorAction Stop })) {
        if ($queue.PortName -eq $Name -and $Queues -notcontains $queue.Name) { return $true }
    }
    return $false
}

#<if port>
function Remove-FreePort {
    # Removes a wrong port that no queue uses at all; whether it is gone.
    param($Port)
    $users = @(Invoke-Print -Command { Get-Printer -ErrorAction Stop } | Where-Object -FilterScript { $_.PortName -eq $Port.Name })
    if ($users.Count -gt 0) { return $false }
    try {
        Invoke-Print -Command { Remove-PrinterPort -InputObject $Port -ErrorAction Stop }
    }
    catch {
        if ((Get-FailureCode -ErrorRecord $_) -eq $script:ExitBusy) { throw }
        Write-Log -Message "The old port $($Port.Name) is not free: $($_.Exception.Message)"
        return $false
    }
    Write-Change -Message "port $($Port.Name) removed, because it was wrong"
    return $true
}
#</if>

function Register-Port {
    # Records a TCP/IP port as one to remove as soon as nothing uses it. Recorded before its queue leaves it, so
    # that the next run knows of it after an interrupted one.
    param($Printer, [string]$Name)
    $port = Invoke-Print -Command { Get-Port -Name $Name }
    if ($null -eq $port -or -not (Get-Property -InputObject $port -Name 'PrinterHostAddress')) { return }
    if (Test-PortMade -Name $Name) { return }
    $null = Set-RegistryValue -Path $script:PortsKey -Name $Name -Value ([string]$Printer.Id)
}

function Remove-LeftPort {
    # Removes the ports of this printer that nothing uses any more: those its queue has left, those of the queues
    # it replaced, and those of an interrupted run.
    param($Printer, [string]$Kept)
    $key = Get-Item -LiteralPath $script:PortsKey -ErrorAction SilentlyContinue
    if ($null -eq $key) { return }
    foreach ($name in @($key.GetValueNames())) {
        if ($name -eq $Kept -or $key.GetValue($name) -ne [string]$Printer.Id) { continue }
        if (-not (Remove-OwnPort -Name $name)) { Write-Log -Message "Port $name stays for now." }
    }
}

#endregion
