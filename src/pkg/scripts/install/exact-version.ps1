#<if exact>
### Exactly this version of a driver

function Invoke-Exchange {
    # Stages the wanted driver, removes the newer one and adds the wanted one. If a step fails, puts the newer one back.
    param($Printer, $Driver)
    $name = $Printer.DriverName
    $other = Get-RegistryValue $ExchangeKey 'Driver'
    if ($other -and $other -ne $name) { Complete-Exchange $other }
    $former = [string](Get-RegistryValue $ExchangeKey 'Version')
    $installed = Get-DriverVersion $name
    if (-not (Test-Exchange $name) -and $null -ne $installed) { $former = $installed.Version }
    Add-DriverPackage $Driver
    try {
        if ((Compare-DriverVersion (Get-DriverVersion $name) $Driver) -gt 0) { Remove-NewerDriver $name $former }
        if (-not (Test-Driver $Printer $Driver)) { Add-Driver $Printer $Driver }
        Complete-Exchange $name
    }
    catch {
        $failure = $_
        $state = "The driver $name is as it was."
        try {
            Restore-NewerDriver $name
            Complete-Exchange $name
            $now = Get-DriverVersion $name
            if ($null -eq $now -or $now.Version -ne $former) { $state = "The driver $name is not in version $former again." }
        }
        catch { $state = "The driver $name and its queues are not as they were ($($_.Exception.Message)). Run this script again." }
        Stop-Run -Code (Get-FailureCode $failure) "$($failure.Exception.Message) $state"
    }
    # The driver that is there now has not seen the preferences of its printers.
    foreach ($marker in @(Get-RegistryChild "$RegistryRoot\Printers")) {
        if ($marker.Key.GetValue('DriverName') -ne $name) { continue }
        foreach ($value in 'Preferences', 'Ticket') { Remove-RegistryValue "$RegistryRoot\Printers\$($marker.Name)" $value }
    }
    Write-Change "driver $name $($Driver.Version) in place of $former"
}

function Remove-NewerDriver {
    # Copies its package first, because removing it deletes the package from the driver store.
    param([string]$Name, [string]$Version)
    $drivers = @(Invoke-Print { Get-PrinterDriver -ErrorAction Stop })
    $inf = [string](Get-DriverInf @($drivers | Where-Object Name -eq $Name)[0])
    if (-not $inf -or -not (Test-Path -LiteralPath $inf)) {
        Stop-Run "The newer driver $Name cannot be saved: Windows does not say where its package is."
    }
    $sharing = @($drivers | Where-Object { $_.Name -ne $Name -and (Get-DriverInf $_) -eq $inf })
    if ($sharing.Count -gt 0) { Stop-Run "The newer driver $Name cannot be removed: $($sharing[0].Name) has the same package." }
    $copy = "$env:ProgramFiles\Platen\Former driver"
    if (Test-Path -LiteralPath $copy) { Remove-Item -LiteralPath $copy -Recurse -Force }
    $null = New-Item -ItemType Directory -Path (Split-Path -Path $copy -Parent) -Force
    Copy-Item -LiteralPath (Split-Path -Path $inf -Parent) -Destination $copy -Recurse
    Set-RegistryValue $ExchangeKey 'Inf' "$copy\$(Split-Path -Path $inf -Leaf)"
    Set-RegistryValue $ExchangeKey 'Version' $Version
    Set-RegistryValue $ExchangeKey 'Driver' $Name
    if ($null -eq (Get-Driver $MeanwhileDriver)) {
        Set-RegistryValue $ExchangeKey 'Added' $MeanwhileDriver
        Invoke-Print { Add-PrinterDriver -Name $MeanwhileDriver -ErrorAction Stop }
    }
    foreach ($queue in @(Get-Queue | Where-Object { $_.DriverName -eq $Name -and [string]$_.Type -ne 'Connection' })) {
        Set-RegistryValue "$ExchangeKey\Queues" $queue.Name $Name
        Invoke-Print { Set-Printer -InputObject $queue -DriverName $MeanwhileDriver -ErrorAction Stop }
    }
    if (-not (Invoke-UntilFree "the driver $Name" { Invoke-DriverRemoval $Name -AndFiles })) {
        Stop-Run "Windows does not remove the newer driver $Name."
    }
    Write-Change "newer driver $Name $Version removed"
}

function Get-DriverInf {
    param($PrinterDriver)
    if ($null -ne $PrinterDriver -and $PrinterDriver.PSObject.Properties['InfPath']) { return $PrinterDriver.InfPath }
}

function Restore-NewerDriver {
    # From the copy of its package.
    param([string]$Name)
    if (-not (Test-Exchange $Name) -or $null -ne (Get-Driver $Name)) { return }
    $result = Invoke-PnpUtil (Get-RegistryValue $ExchangeKey 'Inf')
    Write-Log "pnputil put the newer package back: $($result.Code)"
    Invoke-Print { Add-PrinterDriver -Name $Name -ErrorAction Stop }
}
#</if>
