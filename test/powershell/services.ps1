# Services, pnputil, trusted publishers and downloads, on the machine of Windows.psm1.

function Get-Service {
    [CmdletBinding()] param([string[]]$Name)
    Enter-Call 'Get-Service'
    $others = @($script:M.Dependents | ForEach-Object { [pscustomobject]@{ Name = $_.Name; Status = $_.Status } })
    $finalStatus = @{ StartPending = 'Running'; StopPending = 'Stopped' }[[string]$script:M.Spooler.Status]
    if ($finalStatus -and $script:M.PendingUntil -and $script:M.Now -ge $script:M.PendingUntil) { $script:M.Spooler.Status = $finalStatus }
    [pscustomobject]@{ Name = 'Spooler'; Status = $script:M.Spooler.Status; StartType = $script:M.Spooler.StartType; DependentServices = $others }
}

function Start-Service {
    [CmdletBinding()] param([string[]]$Name)
    if ($Name -ne 'Spooler') {
        Enter-Call "Start-Service $Name"
        foreach ($service in @($script:M.Dependents | Where-Object { $_.Name -eq $Name })) { $service.Status = 'Running' }
        return
    }
    Enter-Call 'Start-Service'
    if ($script:M.Spooler.StartType -eq 'Disabled' -or $script:M.SpoolerNeverStarts) { $PSCmdlet.WriteError((New-PrintError '0x80070422' 'Start-Service' 'Der Dienst "Spooler" kann nicht gestartet werden.')); return }
    $script:M.Spooler.Status = 'Running'
}

function Stop-Service {
    [CmdletBinding()] param([string[]]$Name, [switch]$Force, [switch]$NoWait)
    Enter-Call 'Stop-Service'
    $script:M.Restarts++
    foreach ($service in $script:M.Dependents) { $service.Status = 'Stopped' }
    if ($script:M.SpoolerHangs) { $script:M.Spooler.Status = 'StopPending'; return }
    $script:M.Spooler.Status = 'Stopped'
    $script:M.BusyUntil = 0
    foreach ($queue in $script:M.Queues) { if ($queue.Leaving) { $queue.GoneAt = 0 } }
}

function Stop-Process {
    [CmdletBinding()] param([string[]]$Name, [switch]$Force)
    Enter-Call "Stop-Process $Name"
    $script:M.SpoolerHangs = $false
    $script:M.Spooler.Status = 'Stopped'
    $script:M.BusyUntil = 0
    foreach ($queue in $script:M.Queues) { if ($queue.Leaving) { $queue.GoneAt = 0 } }
}

function Start-Sleep {
    [CmdletBinding()] param([int]$Seconds, [int]$Milliseconds)
    $script:M.Now += 1000 * $Seconds + $Milliseconds
}

function Invoke-SimulatedPnpUtil {
    # pnputil /add-driver <inf> /install: reads the real INF, as Windows does.
    param([string]$InfPath)
    Enter-Call 'pnputil'
    $code = [int]$script:M.PnpCode
    if ($code -in 0, 259, 3010, 1641) {
        if (-not (Test-Path -LiteralPath $InfPath)) { $global:LASTEXITCODE = 2; return 'Das System kann die angegebene Datei nicht finden.' }
        $text = Get-Content -LiteralPath $InfPath -Raw
        $null = $text -match 'DriverVer\s*=\s*([^,\s]*)\s*,\s*([0-9.]+)'
        $date = $Matches[1]
        $version = $Matches[2]
        $machines = @([regex]::Matches($text, '(?m)^\[Models\.NT(x86|amd64|arm64)') | ForEach-Object { $_.Groups[1].Value })
        $names = @([regex]::Matches($text, '(?m)^"([^"]+)"\s*=\s*Install') | ForEach-Object { $_.Groups[1].Value })
        $inf = Split-Path -Path $InfPath -Leaf
        $folder = "$env:windir/System32/DriverStore/FileRepository/${inf}_$($script:M.Architecture)_$($version -replace '\.', '')"
        $null = New-Item -ItemType Directory -Path $folder -Force -WhatIf:$false
        Copy-Item -LiteralPath $InfPath -Destination "$folder/$inf" -WhatIf:$false
        $script:M.Store += @{ Inf = $inf; Names = $names; Machines = $machines; Version = $version; Date = $date; StorePath = "$folder\$inf" }
    }
    $global:LASTEXITCODE = $code
    "Microsoft-PnP-Hilfsprogramm`r`n`r`nTreiberpaket wird hinzugefuegt: $InfPath`r`nVeroeffentlichter Name: oem16.inf"
}

function Export-SimulatedPackage {
    # pnputil /export-driver <published name> <folder>: copies the package.
    param([string]$Published, [string]$Folder)
    Enter-Call 'pnputil /export-driver'
    $global:LASTEXITCODE = [int]$script:M.PnpCode
    $from = $script:M.Published[$Published]
    if (-not $from) { $global:LASTEXITCODE = 2 }
    if ($global:LASTEXITCODE -eq 0) { foreach ($file in Get-ChildItem -LiteralPath $from) { Copy-Item -LiteralPath $file.FullName -Destination $Folder -WhatIf:$false } }
    'Microsoft-PnP-Hilfsprogramm'
}

function Read-Host {
    # The person's next answer. Without one, as in a session that cannot ask.
    [CmdletBinding()] param([string]$Prompt, [switch]$AsSecureString)
    if (@($script:M.Answers).Count -eq 0) { throw [InvalidOperationException]::new('Windows PowerShell befindet sich im nicht interaktiven Modus.') }
    $answer, $script:M.Answers = $script:M.Answers
    if ($AsSecureString) { return ConvertTo-SecureString -AsPlainText -Force -String $answer }
    return $answer
}

function Get-SimulatedAddress {
    if ($script:M.AddressesFail) { throw [InvalidOperationException]::new('Die Netzwerkkarten sind nicht lesbar.') }
    $script:M.Addresses
}
function Test-SimulatedAdministrator { return [bool]$script:M.Admin }
function Get-AuthenticodeSignature {
    [CmdletBinding()] param([string]$LiteralPath)
    $signer = $null
    if (Test-Path -LiteralPath $LiteralPath) { $signer = New-SimulatedCertificate -Thumbprint 'AABBCC' }
    return [pscustomobject]@{ SignerCertificate = $signer }
}
function New-SimulatedCertificate {
    param([string]$Thumbprint)
    return [pscustomobject]@{ Thumbprint = $Thumbprint; Subject = 'CN=Papyrus' }
}
function Open-SimulatedStore {
    $store = [pscustomobject]@{}
    $certificates = { @($script:M.Publishers | ForEach-Object { New-SimulatedCertificate -Thumbprint $_ }) }
    Add-Member -InputObject $store -MemberType ScriptProperty -Name 'Certificates' -Value $certificates
    $methods = @{
        Add = {
            param($Certificate)
            Enter-Call 'TrustedPublisher.Add'
            if ($script:M.Publishers -notcontains $Certificate.Thumbprint) { $script:M.Publishers += $Certificate.Thumbprint }
        }
        Remove = {
            param($Certificate)
            Enter-Call 'TrustedPublisher.Remove'
            $script:M.Publishers = @($script:M.Publishers | Where-Object { $_ -ne $Certificate.Thumbprint })
        }
        Close = { return }
    }
    foreach ($name in $methods.Keys) { Add-Member -InputObject $store -MemberType ScriptMethod -Name $name -Value $methods[$name] }
    return $store
}
function Invoke-WebRequest {
    [CmdletBinding()] param($Uri, $OutFile, [switch]$UseBasicParsing, [int]$TimeoutSec)
    Enter-Call 'Invoke-WebRequest'
    $script:M.Downloads++
    $script:M.Requested += [string]$Uri
    if ($script:M.Refusals) {
        $refusal, $script:M.Refusals = $script:M.Refusals
        if ($refusal.Status) { throw [SimWebException]::new([int]$refusal.Status, [string]$refusal.RetryAfter) }
        throw [Net.WebException]::new('Die zugrunde liegende Verbindung wurde geschlossen.')
    }
    if (-not $script:M.Download) { throw [Net.WebException]::new('Der Remotename konnte nicht aufgeloest werden.') }
    Copy-Item -LiteralPath $script:M.Download -Destination $OutFile -WhatIf:$false
}

function Start-Process {
    # rundll32 printui.dll,PrintUIEntry: saves a queue's vendor preferences to a file, or restores them from one.
    [CmdletBinding()] param([string]$FilePath, [string[]]$ArgumentList, [switch]$PassThru, $WindowStyle)
    Enter-Call "Start-Process $(($FilePath -split '[\\/]')[-1])"
    $isEnded = $true
    if ([string]$ArgumentList -match 'PrintUIEntry /(Ss|Sr) /n "([^"]*)" /a "([^"]*)" (d g .*)$') {
        $task, $name, $file = $Matches[1], $Matches[2], $Matches[3]
        $queue = @($script:M.Queues | Where-Object { $_.Name -eq $name })[0]
        $isEnded = -not $script:M.PrintUiHangs
        if ($isEnded -and $null -ne $queue -and $script:M.PrintUi -ne 'silent') {
            if ($task -eq 'Ss') { [IO.File]::WriteAllText($file, "[$name] $($queue.Vendor)") }
            elseif ($script:M.PrintUi -ne 'refuses') { $queue.Vendor = [IO.File]::ReadAllText($file) }
        }
    }
    if (-not $PassThru) { return }
    $process = [pscustomobject]@{ IsEnded = $isEnded }
    Add-Member -InputObject $process ScriptMethod WaitForExit { param($milliseconds) if (-not $this.IsEnded) { $script:M.Now += $milliseconds }; return $this.IsEnded }
    Add-Member -InputObject $process ScriptMethod Kill { $this.IsEnded = $true }
    return $process
}

function Set-Clipboard {
    [CmdletBinding()] param([Parameter(ValueFromPipeline = $true)][string[]]$Value)
    process { $script:M.Clipboard = [string]$Value }
}
