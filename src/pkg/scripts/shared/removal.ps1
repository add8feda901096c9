#region Removing queues and ports

# The ports that install made, each with the id of its printer. They alone are ever removed.
$PortsKey = "$RegistryRoot\Ports"

function Test-PortMade {
    # Whether install made the port.
    param([string]$Name)
    return $null -ne (Get-RegistryValue $PortsKey $Name)
}

function Remove-OwnPort {
    # Removes a port that install made and that no queue uses; false where Windows does not let it go yet.
    param([string]$Name)
    if (-not $Name -or -not (Test-PortMade $Name)) { return $true }
    $user = @(Get-PortUser $Name)[0]
    if ($user) {
        Write-Log "Port $Name stays: $user uses it."
        return $true
    }
    $port = @(Get-Port | Where-Object Name -eq $Name)[0]
    if ($null -ne $port -and -not (Remove-Port $port)) { return $false }
    Remove-RegistryValue $PortsKey $Name
    return $true
}

function Remove-Port {
    # Whether Windows lets it go.
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
    # Removes a queue and waits until Windows no longer lists it; whether it is gone.
    param([string]$Name)
    $queue = Get-LocalQueue $Name
    if ($null -eq $queue) { return $true }
    Invoke-Print { Remove-Printer -InputObject $queue -ErrorAction Stop }
    Write-Change "queue $Name removed"
    return Wait-Until 10 { -not (Get-LocalQueue $Name) }
}

#endregion
