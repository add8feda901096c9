### Whether a printer is awake
function Test-Reachable {
    # Whether a printer accepts a connection within five seconds, at one of its first four addresses.
    param([string]$Address, [int]$Port)
    try {
        foreach ($one in @([Net.Dns]::GetHostAddresses($Address) | Select-Object -First 4)) {
            if (Test-Connect $one $Port) { return $true }
        }
    }
    catch {
        Write-Verbose "${Address}: $($_.Exception.Message)"
    }
    return $false
}

function Test-Connect {
    param([Net.IPAddress]$Address, [int]$Port)
    $socket = [Net.Sockets.Socket]::new($Address.AddressFamily, 'Stream', 'Tcp')
    try {
        $attempt = $socket.BeginConnect($Address, $Port, $null, $null)
        return $attempt.AsyncWaitHandle.WaitOne(5000) -and $socket.Connected
    }
    finally {
        $socket.Close()
    }
}
