### The machine: rights, spooler, protected print mode, driver ranking
# Whether the spooler answers: without it nothing is known of queues, drivers and ports.
$script:SpoolerAnswers = $false
$script:IsProtected = $false

function Test-Right {
    if (Test-Administrator) {
        Add-Finding 'ok' 'rights' 'runs elevated'
        return
    }
    Add-Finding 'warn' 'rights' 'runs without elevation: default printers and connections of other users are not seen'
}

function Test-Spooler {
    # Running alone says little: a driver may kill the spooler at the first question.
    $service = Get-Spooler
    if ($null -eq $service) {
        Add-Finding 'bad' 'spooler' 'Windows tells of no service "Spooler"'
        return
    }
    $start = "start type $($service.StartType)"
    if ([string]$service.Status -ne 'Running') {
        Add-Finding 'bad' 'spooler' "is $($service.Status), $start"
        return
    }
    try {
        $null = @(Get-PrinterDriver -ErrorAction Stop)
    }
    catch {
        $problem = "does not answer ($($_.Exception.Message))"
        $service = Get-Spooler
        if ($null -ne $service -and [string]$service.Status -ne 'Running') { $problem = "is $($service.Status) since it was asked: something in it, mostly a driver, ends it" }
        Add-Finding 'bad' 'spooler' "$problem, $start"
        return
    }
    $script:SpoolerAnswers = $true
    if ([string]$service.StartType -ne 'Automatic') {
        Add-Finding 'warn' 'spooler' "runs and answers, but $start`: it may not run after a restart"
        return
    }
    Add-Finding 'ok' 'spooler' "runs and answers, $start"
}

function Get-Spooler {
    try {
        return Get-Service 'Spooler' -ErrorAction Stop
    }
    catch {
        return $null
    }
}

function Test-ProtectionMode {
    $script:IsProtected = Test-ProtectedPrint
    if (-not $script:IsProtected) {
        Add-Finding 'ok' 'protected-print' 'the mode is off: drivers of any maker work. Switched on, it removes their queues'
    }
}

function Test-DriverRanking {
    # Whether Windows prefers its own IPP driver to that of a printer's maker. A policy wins over the setting.
    $state = 'set by nobody, so Windows decides'
    foreach ($source in 'setting', 'policy') {
        $name = @{ setting = 'UseWindowsReadyPrintDriverRanking'; policy = 'UseWindowsReadyPrintDriverRankingGroupPolicy' }[$source]
        $value = Get-RegistryValue 'HKLM:\SOFTWARE\Policies\Microsoft\Windows NT\Printers\DriverRanking' $name
        if ($null -eq $value) { continue }
        $state = "on by $source"
        if ($value -eq 0) { $state = "off by $source" }
    }
    Add-Finding 'ok' 'ranking' "the preference for Windows' own IPP driver is ${state}: it is for printers that Windows finds, not for TCP/IP queues"
}

