#region Queues, ports and drivers by name

# -Name of the cmdlets takes wildcards, which names may hold: they are looked for in the whole list instead.

#<if printer>
function Get-LocalQueue {
    # A queue of this machine itself; connections to those of others do not count.
    param([string]$Name)
    foreach ($queue in @(Get-Printer -ErrorAction Stop)) {
        if ($queue.Name -eq $Name -and [string]$queue.Type -ne 'Connection') { return $queue }
    }
    return $null
}

function Get-Port {
    param([string]$Name)
    foreach ($port in @(Get-PrinterPort -ErrorAction Stop)) {
        if ($port.Name -eq $Name) { return $port }
    }
    return $null
}
#</if>

#<if install|package|windows|ipp>
#<if uninstall|package|windows|apart>
function Get-Driver {
    param([string]$Name)
    foreach ($driver in @(Get-PrinterDriver -ErrorAction Stop)) {
        if ($driver.Name -eq $Name) { return $driver }
    }
    return $null
}
#</if>
#</if>

#endregion
