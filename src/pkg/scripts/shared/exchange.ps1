#<if exact>
### An exchange of drivers

# Windows never replaces a driver by an older one. install.ps1 removes the newer one first, and its queues use another
# driver meanwhile. This key notes what has to be put back, also for the run after an interrupted one.
$ExchangeKey = "$RegistryRoot\Exchange"
$MeanwhileDriver = 'Generic / Text Only'

function Test-Exchange {
    # Whether an interrupted run has begun to exchange this driver.
    param([string]$Name)
    return (Get-RegistryValue $ExchangeKey 'Driver') -eq $Name
}

function Complete-Exchange {
    # Gives the queues their driver back and removes what the exchange needed. Windows has the driver's package.
    param([string]$Name)
    if (-not (Test-Exchange $Name)) { return }
    if ($null -eq (Get-Driver $Name)) { Invoke-Print { Add-PrinterDriver -Name $Name -ErrorAction Stop } }
    $key = Get-Item -LiteralPath "$ExchangeKey\Queues" -ErrorAction SilentlyContinue
    $names = @()
    if ($null -ne $key) { $names = @($key.GetValueNames()) }
    foreach ($queueName in $names) {
        $queue = Get-LocalQueue $queueName
        if ($null -eq $queue -or $queue.DriverName -ne $MeanwhileDriver) { continue }
        Invoke-Print { Set-Printer -InputObject $queue -DriverName $Name -ErrorAction Stop }
        $now = Get-LocalQueue $queueName
        if ($null -ne $now -and $now.DriverName -ne $Name) { Stop-Run "Windows does not give the queue $queueName its driver $Name back." }
    }
    if (Get-RegistryValue $ExchangeKey 'Added') { $null = Invoke-DriverRemoval $MeanwhileDriver }
    $copy = Split-Path -Path (Get-RegistryValue $ExchangeKey 'Inf') -Parent
    if (Test-Path -LiteralPath $copy) { Remove-Item -LiteralPath $copy -Recurse -Force }
    Remove-RegistryKey $ExchangeKey
}
#</if>
