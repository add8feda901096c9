#region Removing queues and ports

# The ports that install made, each with the id of its printer. They alone are ever removed.
$script:PortsKey = "$script:RegistryRoot\Ports"

function Test-PortMade {
    # Whether install made the port.
    param([string]$Name)
    return $null -ne (Get-RegistryValue -Path $script:PortsKey -Name $Name)
}

function Remove-OwnPort {
    # Removes a port that install made and that no queue uses; false where Windows does not let it go yet.
    param([string]$Name)
    if (-not $Name -or -not (Test-PortMade -Name $Name)) { return $true }
    $port = Invoke-Print -Command { Get-Port -Name $Name }
    $users = @(Invoke-Print -Command { Get-Printer -ErrorAction Stop } | Where-Object -FilterScript { $_.PortName -eq $Name })
    if ($users.Count -gt 0) {
        Write-Log -Message "Port $Name stays: $($users[0].Name) uses it."
        return $true
    }
    if ($null -ne $port) {
        try {
            Invoke-Print -Command { Remove-PrinterPort -InputObject $port -ErrorAction Stop }
        }
        catch {
            Write-Log -Message "Port $Name is not free yet: $($_.Exception.Message)"
            return $false
        }
        Write-Change -Message "port $Name removed"
    }
    Remove-RegistryValue -Path $script:PortsKey -Name $Name
    return $true
}

function Remove-Queue {
    # Removes a queue and waits until Windows no longer lists it; whether it is gone.
    param([string]$Name)
    $queue = Invoke-Print -Command { Get-LocalQueue -Name $Name }
    if ($null -eq $queue) { return $true }
    Invoke-Print -Command { Remove-Printer -InputObject $queue -ErrorAction Stop }
    Write-Change -Message "queue $Name removed"
    return Wait-Until -Seconds 10 -Condition { $null -eq (Invoke-Print -Command { Get-LocalQueue -Name $Name }) }
}

#endregion
