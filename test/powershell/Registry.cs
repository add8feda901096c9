// An in-memory registry that replaces Windows' registry in tests: the provider "Registry" with the drives HKLM: and
// HKCU:, as far as the scripts use them. A test can let any write fail, and deny writes below a key. It is C# 5, which is what
// Windows PowerShell 5.1 compiles.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Management.Automation;
using System.Management.Automation.Provider;
using System.Net;
using System.Security;

public class SimKey
{
    public SortedDictionary<string, SimKey> Children = new SortedDictionary<string, SimKey>(StringComparer.OrdinalIgnoreCase);
    public SortedDictionary<string, object> Values = new SortedDictionary<string, object>(StringComparer.OrdinalIgnoreCase);
    public string Name = "";
    public int ValueCount { get { return Values.Count; } }
    public int SubKeyCount { get { return Children.Count; } }
    public string[] GetValueNames() { return Values.Keys.ToArray(); }

    public object GetValue(string name)
    {
        object value;
        return Values.TryGetValue(name ?? "", out value) ? value : null;
    }
}

public static class SimRegistry
{
    public static SimKey Root = new SimKey();
    /// <summary>Called before every write. It may throw.</summary>
    public static Action<string> BeforeWrite;
    /// <summary>Keys that cannot be written; the same applies to their subkeys.</summary>
    public static string[] Denied = new string[0];

    public static bool IsDenied(string path)
    {
        var key = string.Join("\\", Split(path)) + "\\";
        return Denied.Any(each => key.StartsWith(string.Join("\\", Split(each)) + "\\", StringComparison.OrdinalIgnoreCase));
    }

    public static string[] Split(string path)
    {
        var text = path ?? "";
        var provider = text.IndexOf("::", StringComparison.Ordinal);
        if (provider >= 0) text = text.Substring(provider + 2);
        var parts = text.Split(new[] { '\\', '/' }, StringSplitOptions.RemoveEmptyEntries);
        if (parts.Length > 0 && parts[0].Equals("HKLM:", StringComparison.OrdinalIgnoreCase)) parts[0] = "HKEY_LOCAL_MACHINE";
        if (parts.Length > 0 && parts[0].Equals("HKCU:", StringComparison.OrdinalIgnoreCase)) parts[0] = "HKEY_CURRENT_USER";
        return parts;
    }

    public static SimKey Find(string path)
    {
        var key = Root;
        foreach (var part in Split(path))
            if (!key.Children.TryGetValue(part, out key)) return null;
        return key;
    }

    public static SimKey Make(IEnumerable<string> parts)
    {
        var key = Root;
        foreach (var part in parts)
        {
            SimKey child;
            if (!key.Children.TryGetValue(part, out child))
            {
                child = new SimKey { Name = key.Name == "" ? part : key.Name + "\\" + part };
                key.Children[part] = child;
            }
            key = child;
        }
        return key;
    }

    /// <summary>Creates a key whose last part may contain any character.</summary>
    public static SimKey MakeExact(string parent, string name) { return Make(Split(parent).Concat(new[] { name })); }

    public static void Set(string path, string name, object value) { Make(Split(path)).Values[name] = value; }

    /// <summary>The values of every key that has values or no subkeys, by path.</summary>
    public static Dictionary<string, Dictionary<string, object>> Dump()
    {
        var all = new Dictionary<string, Dictionary<string, object>>();
        AddTo(all, Root);
        return all;
    }

    static void AddTo(Dictionary<string, Dictionary<string, object>> all, SimKey key)
    {
        if (key.Values.Count > 0 || key.Children.Count == 0 && key.Name != "")
            all[key.Name] = key.Values.ToDictionary(pair => pair.Key, pair => pair.Value);
        foreach (var child in key.Children.Values) AddTo(all, child);
    }
}

[CmdletProvider("Registry", ProviderCapabilities.ShouldProcess)]
public class SimRegistryProvider : NavigationCmdletProvider, IPropertyCmdletProvider, IDynamicPropertyCmdletProvider
{
    protected override bool IsValidPath(string path) { return true; }
    protected override bool ItemExists(string path) { return SimRegistry.Find(path) != null; }
    protected override bool IsItemContainer(string path) { return ItemExists(path); }

    protected override bool HasChildItems(string path)
    {
        var key = SimRegistry.Find(path);
        return key != null && key.Children.Count > 0;
    }

    /// <summary>Writes a non-terminating error and returns null when there is no such key.</summary>
    SimKey Need(string path)
    {
        var key = SimRegistry.Find(path);
        if (key == null)
            WriteError(new ErrorRecord(new ItemNotFoundException("Der Pfad \"" + path + "\" kann nicht gefunden werden."),
                "PathNotFound", ErrorCategory.ObjectNotFound, path));
        return key;
    }

    /// <summary>Writes the non-terminating error of Windows' provider when the key is denied.</summary>
    bool MayWrite(string what, string path)
    {
        if (SimRegistry.BeforeWrite != null) SimRegistry.BeforeWrite(what);
        if (!SimRegistry.IsDenied(path)) return true;
        WriteError(new ErrorRecord(new SecurityException("Der angeforderte Registrierungszugriff ist unzulaessig."),
            "System.Security.SecurityException", ErrorCategory.PermissionDenied, path));
        return false;
    }

    protected override void GetItem(string path)
    {
        var key = Need(path);
        if (key != null) WriteItemObject(key, path, true);
    }

    protected override void GetChildItems(string path, bool recurse)
    {
        var key = Need(path);
        if (key == null) return;
        foreach (var child in key.Children.Values.ToArray()) WriteItemObject(child, path + "\\" + child.Name, true);
    }

    protected override void GetChildNames(string path, ReturnContainers returnContainers)
    {
        var key = SimRegistry.Find(path);
        if (key == null) return;
        foreach (var name in key.Children.Keys.ToArray()) WriteItemObject(name, path, true);
    }

    protected override void NewItem(string path, string itemTypeName, object newItemValue)
    {
        if (!ShouldProcess(path, "New")) return;
        if (!MayWrite("New-Item", path)) return;
        WriteItemObject(SimRegistry.Make(SimRegistry.Split(path)), path, true);
    }

    protected override void RemoveItem(string path, bool recurse)
    {
        if (!ShouldProcess(path, "Remove")) return;
        if (!MayWrite("Remove-Item", path)) return;
        var parts = SimRegistry.Split(path);
        var parent = SimRegistry.Make(parts.Take(parts.Length - 1));
        parent.Children.Remove(parts.Last());
    }

    public void GetProperty(string path, System.Collections.ObjectModel.Collection<string> names)
    {
        var key = Need(path);
        if (key == null) return;
        var bag = new PSObject();
        foreach (var pair in key.Values) bag.Properties.Add(new PSNoteProperty(pair.Key, pair.Value));
        WritePropertyObject(bag, path);
    }

    public void SetProperty(string path, PSObject bag)
    {
        if (!MayWrite("Set-ItemProperty", path)) return;
        foreach (var property in bag.Properties) Need(path).Values[property.Name] = property.Value;
    }

    public void ClearProperty(string path, System.Collections.ObjectModel.Collection<string> names) { }

    public void NewProperty(string path, string name, string type, object value)
    {
        if (!ShouldProcess(path, "New property")) return;
        if (!MayWrite("New-ItemProperty", path)) return;
        var key = Need(path);
        if (key == null) return;
        var wrapped = value as PSObject;
        var plain = wrapped == null ? value : wrapped.BaseObject;
        if (string.Equals(type, "DWord", StringComparison.OrdinalIgnoreCase)) key.Values[name] = Convert.ToInt32(plain);
        else if (string.Equals(type, "MultiString", StringComparison.OrdinalIgnoreCase)) key.Values[name] = ((System.Collections.IEnumerable)plain).Cast<object>().Select(each => each.ToString()).ToArray();
        else key.Values[name] = Convert.ToString(plain);
    }

    public void RemoveProperty(string path, string name)
    {
        if (!ShouldProcess(path, "Remove property")) return;
        if (!MayWrite("Remove-ItemProperty", path)) return;
        var key = Need(path);
        if (key == null) return;
        var pattern = new WildcardPattern(name, WildcardOptions.IgnoreCase);
        foreach (var found in key.Values.Keys.Where(each => pattern.IsMatch(each)).ToArray()) key.Values.Remove(found);
    }

    public object GetPropertyDynamicParameters(string path, System.Collections.ObjectModel.Collection<string> names) { return null; }
    public object SetPropertyDynamicParameters(string path, PSObject bag) { return null; }
    public object ClearPropertyDynamicParameters(string path, System.Collections.ObjectModel.Collection<string> names) { return null; }
    public object NewPropertyDynamicParameters(string path, string name, string type, object value) { return null; }
    public object RemovePropertyDynamicParameters(string path, string name) { return null; }
    public void RenameProperty(string path, string from, string to) { throw new NotSupportedException(); }
    public object RenamePropertyDynamicParameters(string path, string from, string to) { return null; }
    public void CopyProperty(string a, string b, string c, string d) { throw new NotSupportedException(); }
    public object CopyPropertyDynamicParameters(string a, string b, string c, string d) { return null; }
    public void MoveProperty(string a, string b, string c, string d) { throw new NotSupportedException(); }
    public object MovePropertyDynamicParameters(string a, string b, string c, string d) { return null; }

    protected override System.Collections.ObjectModel.Collection<PSDriveInfo> InitializeDefaultDrives()
    {
        return new System.Collections.ObjectModel.Collection<PSDriveInfo>
        {
            new PSDriveInfo("HKLM", ProviderInfo, "HKEY_LOCAL_MACHINE", "", null),
            new PSDriveInfo("HKCU", ProviderInfo, "HKEY_CURRENT_USER", "", null),
        };
    }

}

/// <summary>Replaces System.Net.Dns with a table of names.</summary>
public static class SimDns
{
    public static Dictionary<string, string[]> Names = new Dictionary<string, string[]>(StringComparer.OrdinalIgnoreCase);

    public static IPAddress[] GetHostAddresses(string name)
    {
        IPAddress address;
        if (IPAddress.TryParse(name, out address)) return new[] { address };
        string[] found;
        if (Names.TryGetValue(name, out found)) return found.Select(IPAddress.Parse).ToArray();
        throw new InvalidOperationException("Der angegebene Host ist unbekannt");
    }
}
