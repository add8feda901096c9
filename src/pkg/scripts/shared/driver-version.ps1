#region Driver versions

$script:PrintRoot = 'HKLM:\SYSTEM\CurrentControlSet\Control\Print'

function Get-MachineArchitecture {
    # The machine's own, whatever this process is: an x64 process on ARM64 sees itself on x64.
    $key = 'HKLM:\SYSTEM\CurrentControlSet\Control\Session Manager\Environment'
    $name = Get-RegistryValue -Path $key -Name 'PROCESSOR_ARCHITECTURE'
    if (-not $name) { $name = $env:PROCESSOR_ARCHITECTURE }
    return ([string]$name).ToLowerInvariant()
}

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
    # mm/dd/yyyy or mm-dd-yyyy, as INF files write it, to a number that sorts; 0 for anything else.
    param([string]$Date)
    if ($Date -notmatch '^\s*(\d{1,2})[/-](\d{1,2})[/-](\d{4})') { return 0 }
    return [int]$Matches[3] * 10000 + [int]$Matches[1] * 100 + [int]$Matches[2]
}

function Compare-DriverVersion {
    # -1, 0 or 1: by date, then by version, as Windows ranks drivers. Parts may go over 65535 or be missing.
    param($Left, $Right)
    $leftDate = ConvertTo-SortableDate -Date $Left.Date
    $rightDate = ConvertTo-SortableDate -Date $Right.Date
    if ($leftDate -ne 0 -and $rightDate -ne 0 -and $leftDate -ne $rightDate) {
        return [Math]::Sign($leftDate - $rightDate)
    }
    $leftParts = @(([string]$Left.Version) -split '[^0-9]+' | Where-Object -FilterScript { $_ })
    $rightParts = @(([string]$Right.Version) -split '[^0-9]+' | Where-Object -FilterScript { $_ })
    for ($i = 0; $i -lt [Math]::Max($leftParts.Count, $rightParts.Count); $i++) {
        $a = [decimal]0
        $b = [decimal]0
        if ($i -lt $leftParts.Count) { $a = [decimal]$leftParts[$i] }
        if ($i -lt $rightParts.Count) { $b = [decimal]$rightParts[$i] }
        if ($a -ne $b) { return [Math]::Sign($a - $b) }
    }
    return 0
}

function Test-DriverCurrent {
    # Whether the installed driver is the wanted one or a newer one.
    param($Installed, $Driver)
    if ($null -eq $Installed) { return $false }
    if (-not $Driver.Version) { return $true }
    if (-not $Installed.Version) { return $false }
    return (Compare-DriverVersion -Left $Installed -Right $Driver) -ge 0
}

#endregion
