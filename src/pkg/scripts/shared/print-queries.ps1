### Queues, ports and drivers
# A parameter -Name expands wildcards, which names may contain, so the scripts compare names themselves.

#<if printer|uninstall|exact>
function Get-Queue { Invoke-Print { Get-Printer -ErrorAction Stop } }
#</if>

#<if printer|exact>
function Get-LocalQueue {
    # A queue of this machine. A connection to a queue of another machine does not count.
    param([string]$Name)
    return @(Get-Queue | Where-Object { $_.Name -eq $Name -and [string]$_.Type -ne 'Connection' })[0]
}
#</if>

#<if printer>
function Get-Port { Invoke-Print { Get-PrinterPort -ErrorAction Stop } }
#</if>

#<if install|package|windows|ipp>
#<if uninstall|package|windows|apart>
function Get-Driver {
    param([string]$Name)
    return @(Invoke-Print { Get-PrinterDriver -ErrorAction Stop } | Where-Object Name -eq $Name)[0]
}
#</if>
#</if>
