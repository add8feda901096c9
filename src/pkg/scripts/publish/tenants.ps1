#region Clients and their tenants

# Microsoft Graph Command Line Tools, which is in every tenant.
$SharedClientId = '14d82eec-204b-4c2f-b7e8-296a70dab67e'
$TenantPattern = '\A[A-Za-z0-9][A-Za-z0-9.-]{0,254}\z'
$GuidPattern = '\A[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\z'
$ThumbprintPattern = '\A[0-9A-Fa-f]{40}\z'
# The client and the tenant that the run publishes to now: Client (its name), Part (what to publish), Tenant, ClientId, Thumbprint.
$script:Target = $null

function Get-Targets {
    # Each client with its tenant: that of its row in -Tenants, else its tenant in Platen. -Tenant fills empty cells of its row. A
    # script for one client follows -Tenant before Platen's.
    $rows = Read-Tenants
    foreach ($part in $Settings.Clients) {
        $row = $rows[$part.Client]
        $to = @((Get-Field $row 'tenant'), $part.Tenant | Where-Object { $_ })[0]
        if (-not $to -and $null -ne $row) { $to = $Tenant }
        if (-not $Settings.IsForAll) { $to = @((Get-Field $row 'tenant'), $Tenant, $part.Tenant, 'organizations' | Where-Object { $_ })[0] }
        @{
            Part = $part
            Client = $part.Client
            Tenant = $to
            ClientId = @((Get-Field $row 'client_id'), $ClientId, $SharedClientId | Where-Object { $_ })[0]
            Thumbprint = @((Get-Field $row 'certificate_thumbprint'), $CertificateThumbprint | Where-Object { $_ })[0]
        }
    }
}

function Read-Tenants {
    # The rows of -Tenants by client. Names are compared without regard to case.
    $rows = @{}
    if (-not $Tenants) { return $rows }
    $path = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Tenants)
    if (-not [IO.File]::Exists($path)) { throw "-Tenants: there is no file $path." }
    $delimiter = ','
    # Excel writes semicolons in many countries.
    if ([string](Get-Content -LiteralPath $path -TotalCount 1) -match ';') { $delimiter = ';' }
    $known = @($Settings.Clients | ForEach-Object { $_.Client })
    $number = 1
    $columns = 'client', 'tenant', 'client_id', 'certificate_thumbprint'
    foreach ($row in @(Import-Csv -LiteralPath $path -Delimiter $delimiter -Encoding UTF8)) {
        $number++
        foreach ($name in Get-FieldNames $row) { if ($columns -notcontains $name) { throw "-Tenants: $path has the unknown column '$name'. Known are: $($columns -join ', ')." } }
        if (@(Get-FieldNames $row) -notcontains 'client' -or @(Get-FieldNames $row) -notcontains 'tenant') { throw "-Tenants: $path needs the columns 'client' and 'tenant'." }
        $cells = @{}
        foreach ($name in $columns) { $cells[$name] = ([string](Get-Field $row $name)).Trim() }
        if (-not $cells.client) { throw "-Tenants: row $number names no client." }
        if ($rows.ContainsKey($cells.client)) { throw "-Tenants: row $number names $($cells.client) again." }
        # A script for one client ignores the others.
        if ($known -notcontains $cells.client -and $known.Count -gt 1) { throw "-Tenants: row $number names the client $($cells.client), which this script does not contain." }
        if ($cells.tenant -and $cells.tenant -notmatch $TenantPattern) { throw "-Tenants: row ${number}: '$($cells.tenant)' is no tenant. Use its domain or its id." }
        if ($cells.client_id -and $cells.client_id -notmatch $GuidPattern) { throw "-Tenants: row ${number}: '$($cells.client_id)' is no id of an app registration." }
        if ($cells.certificate_thumbprint -and $cells.certificate_thumbprint -notmatch $ThumbprintPattern) { throw "-Tenants: row ${number}: the thumbprint needs 40 hex digits." }
        $rows[$cells.client] = [pscustomobject]$cells
    }
    if ($number -eq 1) { throw "-Tenants: $path has no rows." }
    if ($known.Count -eq 1 -and -not $rows.ContainsKey([string]$known[0])) { throw "-Tenants: $path has no row for the client $($known[0])." }
    return $rows
}

function Enter-Target {
    # Starts the work at a client. The access stays valid while tenant and app registration are the same.
    param($To)
    $from = $script:Target
    $isSame = $null -ne $from -and $from.Tenant -eq $To.Tenant -and $from.ClientId -eq $To.ClientId -and $from.Thumbprint -eq $To.Thumbprint
    if (-not $isSame) { $script:Access = $null }
    $script:Target = $To
    $script:RowClock.Restart()
    $script:Stopped = ''
}

#endregion
