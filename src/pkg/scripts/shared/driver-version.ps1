#<if package|apart>
#region Driver versions

function Get-DriverVersion {
    # Version and date of an installed driver as its INF gave them; $null where Windows does not record them.
    param([string]$Name)
    $environment = @{ amd64 = 'Windows x64'; x86 = 'Windows NT x86'; arm64 = 'Windows ARM64' }[(Get-MachineArchitecture)]
    foreach ($version in 'Version-4', 'Version-3') {
        foreach ($child in @(Get-RegistryChild "$PrintRoot\Environments\$environment\Drivers\$version")) {
            if ($child.Name -ne $Name) { continue }
            return @{ Version = [string]$child.Key.GetValue('DriverVersion'); Date = [string]$child.Key.GetValue('DriverDate') }
        }
    }
}

function Get-DriverRank {
    # As a text that sorts as Windows ranks drivers: yyyymmdd, zeros where there is no date, then each number of the
    # version behind a character that tells its length. domain/driver-version.ts ranks alike.
    param($Driver)
    $date = '00000000'
    if ($Driver.Date -match '^[ \t]*([0-9]{1,2})[/-]([0-9]{1,2})[/-]([0-9]{4})(?![0-9])') {
        $month, $day = [int]$Matches[1], [int]$Matches[2]
        if ($month -in 1..12 -and $day -in 1..31) { $date = '{0}{1:00}{2:00}' -f $Matches[3], $month, $day }
    }
    $version = ''
    $zeros = ''
    foreach ($number in $Driver.Version -split '[^0-9]+' -ne '') {
        $number = $number.TrimStart('0')
        if (-not $number) { $zeros += [char]0; continue }
        $version += $zeros + [char]$number.Length + $number
        $zeros = ''
    }
    return $date + $version
}

function Test-DriverCurrent {
    # Whether the installed driver is the wanted one or a newer one. Where one of the two has no date, versions
    # alone decide: Windows may not have recorded the date, and that makes no driver an old one.
    param($Installed, $Driver)
    if ($null -eq $Installed) { return $false }
    if (-not $Driver.Version) { return $true }
    if (-not $Installed.Version) { return $false }
    $there, $wanted = (Get-DriverRank $Installed), (Get-DriverRank $Driver)
    if ($there, $wanted -match '^0{8}') { $there, $wanted = $there.Substring(8), $wanted.Substring(8) }
    return [string]::CompareOrdinal($there, $wanted) -ge 0
}

#endregion
#</if>
