#region Queues, ports and drivers by name

#<if printer|uninstall>
function Get-Queue {
    # All of them, connections too: -Name takes wildcards, which names may hold.
    Invoke-Print { Get-Printer -ErrorAction Stop }
}
#</if>

#<if printer>
function Get-LocalQueue {
    # A queue of this machine itself; connections to those of others do not count.
    param([string]$Name)
    return @(Get-Queue | Where-Object { $_.Name -eq $Name -and [string]$_.Type -ne 'Connection' })[0]
}

function Get-Port {
    # All of them.
    Invoke-Print { Get-PrinterPort -ErrorAction Stop }
}

function Get-PortUser {
    # The names of the queues on a port.
    param([string]$Name)
    Get-Queue | Where-Object PortName -eq $Name | ForEach-Object { $_.Name }
}
#</if>

#<if install|package|windows|ipp>
#<if uninstall|package|windows|apart>
function Get-Driver {
    param([string]$Name)
    return @(Invoke-Print { Get-PrinterDriver -ErrorAction Stop } | Where-Object Name -eq $Name)[0]
}
#</if>
#</if>

#endregion
