#region The machine: rights, spooler, protected print mode

# Whether the spooler answers: without it nothing is known of queues, drivers and ports.
$script:SpoolerAnswers = $false
$script:IsProtected = $false

function Test-Right {
    if (Test-Administrator) {
        Add-Finding -Level 'ok' -Check 'rights' -Text 'runs elevated'
        return
    }
    Add-Finding -Level 'warn' -Check 'rights' -Text 'runs without elevation: default printers and connections of other users are not seen'
}

function Test-Spooler {
    # Running alone says little: a driver may kill the spooler at the first question.
    $service = Get-Spooler
    if ($null -eq $service) {
        Add-Finding -Level 'bad' -Check 'spooler' -Text 'Windows tells of no service "Spooler"'
        return
    }
    $start = "start type $($service.StartType)"
    if ([string]$service.Status -ne 'Running') {
        Add-Finding -Level 'bad' -Check 'spooler' -Text "is $($service.Status), $start"
        return
    }
    try {
        $null = @(Get-PrinterDriver -ErrorAction Stop)
    }
    catch {
        $problem = "does not answer ($($_.Exception.Message))"
        $service = Get-Spooler
        if ($null -ne $service -and [string]$service.Status -ne 'Running') { $problem = "is $($service.Status) since it was asked: something in it, mostly a driver, ends it" }
        Add-Finding -Level 'bad' -Check 'spooler' -Text "$problem, $start"
        return
    }
    $script:SpoolerAnswers = $true
    if ([string]$service.StartType -ne 'Automatic') {
        Add-Finding -Level 'warn' -Check 'spooler' -Text "runs and answers, but $start`: it may not run after a restart"
        return
    }
    Add-Finding -Level 'ok' -Check 'spooler' -Text "runs and answers, $start"
}

function Get-Spooler {
    try {
        return Get-Service -Name 'Spooler' -ErrorAction Stop
    }
    catch {
        return $null
    }
}

function Test-ProtectionMode {
    $script:IsProtected = Test-ProtectedPrint
    if (-not $script:IsProtected) { Add-Finding -Level 'ok' -Check 'protected-print' -Text 'the mode is off: drivers of any maker work' }
}

#endregion
