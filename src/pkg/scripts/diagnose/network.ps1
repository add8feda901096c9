### Names, addresses and connections, each within a time
function New-Deadline {
    param([int]$Milliseconds)
    return @{ Clock = [Diagnostics.Stopwatch]::StartNew(); Milliseconds = $Milliseconds }
}

function Get-RemainingTime {
    param($Deadline)
    return [Math]::Max(0, $Deadline.Milliseconds - [int]$Deadline.Clock.ElapsedMilliseconds)
}

function Wait-ForTask {
    # Until a task is done. Throws what it failed with, or a TimeoutException.
    param($Task, [int]$Milliseconds)
    $isDone = $false
    try {
        $isDone = $Task.Wait($Milliseconds)
    }
    catch {
        throw $_.Exception.GetBaseException()
    }
    if (-not $isDone) { throw (New-Object TimeoutException) }
}

function Get-HostAddress {
    # The addresses of a name, or the address that it is. Throws where there is none, or no answer in time.
    param([string]$Name, [int]$Milliseconds)
    $parsed = $null
    if ([Net.IPAddress]::TryParse($Name, [ref]$parsed)) { return $parsed }
    $task = [Net.Dns]::GetHostAddressesAsync($Name)
    Wait-ForTask $task $Milliseconds
    return $task.Result
}

function Open-Connection {
    # A TcpClient with the first address that takes it. Throws what the last one failed with.
    param($Addresses, [int]$Port, $Deadline)
    $problem = New-Object TimeoutException
    $list = @($Addresses | Select-Object -First 4)
    for ($i = 0; $i -lt $list.Count; $i++) {
        $client = New-Object Net.Sockets.TcpClient -ArgumentList $list[$i].AddressFamily
        try {
            # A share of the time for each, so that one that is silent leaves some for the next.
            $share = [int]((Get-RemainingTime $Deadline) / ($list.Count - $i))
            Wait-ForTask $client.ConnectAsync($list[$i], $Port) $share
            return $client
        }
        catch {
            $client.Close()
            $problem = $_.Exception
        }
    }
    throw $problem
}

function Get-TcpAnswer {
    # Whether a port takes a connection: State is open, refused, silent or unreachable.
    param($Addresses, [int]$Port, [int]$Milliseconds)
    $deadline = New-Deadline $Milliseconds
    $state = 'open'
    try {
        (Open-Connection $Addresses $Port $deadline).Close()
    }
    catch {
        $state = Get-ConnectionState $_.Exception
    }
    return @{ State = $state; Milliseconds = [int]$deadline.Clock.ElapsedMilliseconds }
}

function Get-ConnectionState {
    # What an exception says of a connection.
    param($Exception)
    $base = $Exception.GetBaseException()
    if ($base -is [TimeoutException]) { return 'silent' }
    if ($base -isnot [Net.Sockets.SocketException]) { return 'unreachable' }
    if ([string]$base.SocketErrorCode -eq 'ConnectionRefused') { return 'refused' }
    if ([string]$base.SocketErrorCode -eq 'TimedOut') { return 'silent' }
    return 'unreachable'
}

