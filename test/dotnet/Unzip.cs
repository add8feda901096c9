using System.IO.Compression;

ZipFile.ExtractToDirectory(args[0], args[1]);
