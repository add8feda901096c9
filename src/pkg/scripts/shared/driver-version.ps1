#<if package|apart>
#region Driver versions

function Get-DriverVersion {
    # Version and date of an installed driver as its INF gave them; $null where Windows does not record them.
    param([string]$Name)
    $environment = @{ amd64 = 'Windows x64'; x86 = 'Windows NT x86'; arm64 = 'Windows ARM64' }[(Get-MachineArchitecture)]
    foreach ($version in 'Version-4', 'Version-3') {
        foreach ($child in @(Get-RegistryChild -Path "$script:PrintRoot\Environments\$environment\Drivers\$version")) {
            if ($child.Name -ne $Name) { continue }
            return @{ Version = [string]$child.Key.GetValue('DriverVersion'); Date = [string]$child.Key.GetValue('DriverDate') }
        }
    }
    return $null
}

function ConvertTo-SortableDate {
    # mm/dd/yyyy or mm-dd-yyyy, as INF files write it, as yyyymmdd; 0 for anything else, which is no date to
    # Windows either.
    param([string]$Date)
    if ($Date -notmatch '^[ \t]*([0-9]{1,2})[/-]([0-9]{1,2})[/-]([0-9]{4})(?![0-9])') { return 0 }
    $month = [int]$Matches[1]
    $day = [int]$Matches[2]
    if ($month -lt 1 -or $month -gt 12 -or $day -lt 1 -or $day -gt 31) { return 0 }
    return [int]$Matches[3] * 10000 + $month * 100 + $day
}

function Compare-Digits {
    # -1, 0 or 1: two numbers of any length, given as digits.
    param([string]$Left, [string]$Right)
    $leftDigits = $Left.TrimStart('0')
    $rightDigits = $Right.TrimStart('0')
    if ($leftDigits.Length -ne $rightDigits.Length) { return [Math]::Sign($leftDigits.Length - $rightDigits.Length) }
    return [Math]::Sign([string]::CompareOrdinal($leftDigits, $rightDigits))
}

function Compare-Version {
    # -1, 0 or 1: number by number; a missing one is 0.
    param([string]$Left, [string]$Right)
    $leftNumbers = @($Left -split '[^0-9]+' | Where-Object -FilterScript { $_ })
    $rightNumbers = @($Right -split '[^0-9]+' | Where-Object -FilterScript { $_ })
    for ($i = 0; $i -lt [Math]::Max($leftNumbers.Count, $rightNumbers.Count); $i++) {
        $a = ''
        $b = ''
        if ($i -lt $leftNumbers.Count) { $a = $leftNumbers[$i] }
        if ($i -lt $rightNumbers.Count) { $b = $rightNumbers[$i] }
        $order = Compare-Digits -Left $a -Right $b
        if ($order -ne 0) { return $order }
    }
    return 0
}

function Compare-DriverVersion {
    # -1, 0 or 1, as Windows ranks drivers: by date, then by version. No date is older than any.
    # domain/driver-version.ts ranks alike.
    param($Left, $Right)
    $difference = (ConvertTo-SortableDate -Date $Left.Date) - (ConvertTo-SortableDate -Date $Right.Date)
    if ($difference -ne 0) { return [Math]::Sign($difference) }
    return Compare-Version -Left $Left.Version -Right $Right.Version
}

function Test-DriverCurrent {
    # Whether the installed driver is the wanted one or a newer one. Where one of the two has no date, versions
    # alone decide: Windows may not have recorded the date, and that makes no driver an old one.
    param($Installed, $Driver)
    if ($null -eq $Installed) { return $false }
    if (-not $Driver.Version) { return $true }
    if (-not $Installed.Version) { return $false }
    $isDated = (ConvertTo-SortableDate -Date $Installed.Date) -ne 0 -and (ConvertTo-SortableDate -Date $Driver.Date) -ne 0
    if (-not $isDated) { return (Compare-Version -Left $Installed.Version -Right $Driver.Version) -ge 0 }
    return (Compare-DriverVersion -Left $Installed -Right $Driver) -ge 0
}

#endregion
#</if>
