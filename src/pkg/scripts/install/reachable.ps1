#<if ipp>
#region Whether a printer is awake

function Test-Reachable {
    # Whether a printer takes a connection: a few seconds for each of its addresses, of which a name may have any number.
    param([string]$Address, [int]$Port)
    try {
        foreach ($one in @([Net.Dns]::GetHostAddresses($Address) | Select-Object -First 4)) {
            if (Test-Connect $one $Port) { return $true }
        }
    }
    catch {
        Write-Log "${Address}: $($_.Exception.Message)"
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

#endregion
#</if>
