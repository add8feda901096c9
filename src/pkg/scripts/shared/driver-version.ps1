#<if package|apart>
function Get-DriverVersion {
    # Version and date of an installed driver, as in its INF; empty texts where Windows recorded none. $null if the driver
    # is not installed.
    param([string]$Name)
    $environment = @{ amd64 = 'Windows x64'; x86 = 'Windows NT x86'; arm64 = 'Windows ARM64' }[(Get-MachineArchitecture)]
    foreach ($type in 'Version-4', 'Version-3') {
        foreach ($child in @(Get-RegistryChild "$PrintRoot\Environments\$environment\Drivers\$type")) {
            if ($child.Name -ne $Name) { continue }
            return @{ Version = [string]$child.Key.GetValue('DriverVersion'); Date = [string]$child.Key.GetValue('DriverDate') }
        }
    }
}

function Compare-DriverVersion {
    # Below 0 if the installed driver is older than the wanted one, or unknown; above 0 if it is newer. Windows compares
    # dates before versions. If one date is missing, only the versions count: Windows may not have recorded the date.
    param($Installed, $Driver)
    if ($null -eq $Installed) { return -1 }
    if (-not $Driver.Version) { return 0 }
    # A cast reads month/day/year in every culture; -as does not.
    $there, $wanted = @($Installed.Date, $Driver.Date | ForEach-Object { try { [datetime][string]$_ } catch { $null } })
    if ($Installed.Version -and $there -and $wanted -and $there -ne $wanted) { return $there.CompareTo($wanted) }
    $there, $wanted = @($Installed.Version, $Driver.Version | ForEach-Object {
            $numbers = @([regex]::Matches($_, '[0-9]{1,9}') | ForEach-Object { $_.Value }) + 0, 0, 0, 0
            [version]($numbers[0..3] -join '.')
        })
    return $there.CompareTo($wanted)
}

function Test-DriverCurrent {
    # Whether the installed driver is the wanted one. A newer one is as good, unless exactly this version is wanted.
    param($Installed, $Driver)
    $order = Compare-DriverVersion $Installed $Driver
    return $order -eq 0 -or ($order -gt 0 -and -not $Driver.ExactVersion)
}

#<if install|detect>
function Get-NewerDriverText {
    # What the last line says of a newer driver that stays; nothing if there is none.
    param([string]$Name, $Driver)
    $installed = Get-DriverVersion $Name
    if ((Compare-DriverVersion $installed $Driver) -gt 0) { "the driver $Name has $($installed.Version), newer than $($Driver.Version): kept" }
}
#</if>
#</if>
