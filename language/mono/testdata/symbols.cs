// mcs -r:Mono.Cecil.dll -r:Mono.CompilerServices.SymbolWriter.dll symbols.cs; mono symbols.exe makes,
// of stops.exe and stops.exe.mdb, by these libraries of Mono's: portable/stops.exe and
// portable/stops.pdb, a portable PDB; and lines, which has for each place in code that has a source
// line the method's name, the offset in its code, and that line, 0 for none.
using System.IO;
using System.Linq;
using Mono.Cecil;
using Mono.Cecil.Cil;
using Mono.CompilerServices.SymbolWriter;

static class Symbols
{
    static void Main()
    {
        var module = ModuleDefinition.ReadModule("stops.exe");
        var documents = new System.Collections.Generic.Dictionary<string, Document>();
        using (var to = new StreamWriter("lines") { NewLine = "\n" })
            foreach (var entry in MonoSymbolFile.ReadSymbolFile("stops.exe.mdb").Methods)
            {
                var method = (MethodDefinition)module.LookupToken(entry.Token);
                foreach (var line in entry.GetLineNumberTable().LineNumbers)
                {
                    bool hidden = line.IsHidden || line.Row == 0xfeefee;
                    to.WriteLine("{0}.{1}\t{2}\t{3}", method.DeclaringType.FullName, method.Name, line.Offset, hidden ? 0 : line.Row);
                    string name = Path.GetFileName(entry.CompileUnit.SourceFile.FileName);
                    Document document;
                    if (!documents.TryGetValue(name, out document))
                        documents[name] = document = new Document(name) { Language = DocumentLanguage.CSharp };
                    var at = method.Body.Instructions.FirstOrDefault(i => i.Offset == line.Offset);
                    if (at != null)
                        method.DebugInformation.SequencePoints.Add(new SequencePoint(at, document) { StartLine = hidden ? 0xfeefee : line.Row, EndLine = hidden ? 0xfeefee : line.Row, StartColumn = 1, EndColumn = 2 });
                }
            }
        Directory.CreateDirectory("portable");
        module.Write("portable/stops.exe", new WriterParameters { WriteSymbols = true, SymbolWriterProvider = new PortablePdbWriterProvider() });
    }
}
