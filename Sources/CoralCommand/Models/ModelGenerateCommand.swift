import ArgumentParser
import AtomicFiles
import Coral
import ModelCodeGeneration
import ModelFiles

/// `coral model generate`: writes the classes that the build plugin generates as files.
struct ModelGenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Writes the entity classes of a model as Swift files.",
        discussion: """
            For each class two files are written: Note+CoreDataClass.swift, which is for your own code and is not \
            replaced once it exists, and Note+CoreDataProperties.swift, which is replaced if it was generated. Set the \
            code generation of these entities to Manual/None in the model, otherwise their classes are generated \
            twice.

            With --swiftdata one file with a class with @Model is written for each entity, and Versions.swift with the \
            version of the schema and a migration plan. The command compares the version hashes that the classes have with \
            those of the model, and lists the entities that differ. The cases of enumerations are read from the store.

            EXAMPLES:
              coral model generate Notes.xcdatamodeld Sources/Notes
              coral model generate Notes.sqlite Sources/Notes --entity Note --entity Item
              coral model generate --swiftdata default.store Sources/Notes
            """)

    @Argument(help: "A model file of any kind, or a store that contains its model.", completion: Completion.models)
    var model: String

    @Argument(help: "The folder for the files.", completion: .directory)
    var directory: String = "."

    @Option(name: .long, help: "Only this entity. May be repeated.", completion: Completion.entities)
    var entity: [String] = []

    @Flag(name: .customLong("swiftdata"), help: "Write classes with @Model for SwiftData.")
    var forSwiftData = false

    @Flag(name: .long, help: "Also replace class files, and files that were not generated.")
    var force = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    func run() throws { try proof.prove(model, body: generate) }

    private func generate() throws {
        let source = URL(storeAt: model)
        var model = try ModelFileSource.file(at: self.model).model
        let names = model.entities.map(\.name)
        for name in entity where !names.contains(name) {
            throw CommandError.noEntity(name, in: names)
        }
        // An explicit request includes entities for which nothing is generated at build time.
        for index in model.entities.indices where model.entities[index].codeGeneration == .manual {
            model.entities[index].codeGeneration = .classDefinition
        }
        let wanted = Set(model.entities.filter { entity.isEmpty || entity.contains($0.name) }.map(\.name))
        if forSwiftData { return try writeSwiftData(of: model, wanted, from: source) }
        let classes = try EntityClasses(of: model, named: source.lastPathComponent)
        guard !classes.classNames.isEmpty else {
            throw CommandError("No entity of the model has its own class: give the entities class names first.")
        }
        let folder = try makeFolder()
        try StandardOutput.requireOpen()
        var lines: [String] = []
        for file in classes.files() where wanted.contains(file.entityName) {
            let url = folder.appendingPathComponent(file.name)
            if file.isEditable, !force, FileManager.default.fileExists(atPath: url.path) {
                lines.append("\(file.name): kept\n")
                continue
            }
            if let old = try? String(contentsOf: url, encoding: .utf8), !GeneratedFile.isGenerated(old) {
                try Confirmation.requireFree(url.path, reading: [source], isForced: force)
            }
            let sink = try AtomicFile(path: url.path)
            try Data(file.text.utf8).withUnsafeBytes { try sink.write($0) }
            try sink.finish()
            lines.append("\(file.name)\n")
        }
        try StandardOutput.report(lines.joined())
    }

    /// The folder for the files.
    private func makeFolder() throws -> URL {
        let folder = URL(fileURLWithPath: directory)
        if FileStatus(directory)?.isFolder == false {
            throw CommandError("There is a file at \(directory). Name a folder for the classes.")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    // MARK: - SwiftData

    private func writeSwiftData(of model: Model, _ wanted: Set<String>, from source: URL) throws {
        let rawValues =
            ModelSource.isModelFile(source) || SwiftDataSourceFiles.paths(self.model) != nil
            ? [:] : try SwiftDataRawValues.read(self.model, model)
        let classes = try SwiftDataClasses(of: model, named: source.lastPathComponent, rawValues: rawValues)
        let folder = try makeFolder()
        try StandardOutput.requireOpen()
        var lines: [String] = []
        for file in classes.files where file.entityName.map(wanted.contains) ?? entity.isEmpty {
            let url = folder.appendingPathComponent(file.name)
            if !force, FileManager.default.fileExists(atPath: url.path) {
                lines.append("\(file.name): kept\n")
                continue
            }
            let sink = try AtomicFile(path: url.path)
            try Data(file.text.utf8).withUnsafeBytes { try sink.write($0) }
            try sink.finish()
            lines.append("\(file.name)\n")
        }
        try StandardOutput.report(lines.joined())
        for (name, losses) in classes.losses.sorted(by: { $0.key < $1.key }) where wanted.contains(name) {
            StandardError.warn("\(name): \(losses.joined(separator: " "))")
        }
        let changed = classes.changedEntities.filter(wanted.contains)
        guard changed.isEmpty else {
            throw CommandError(
                "The classes do not open a store of this model without a migration, because the version hashes of "
                    + "\(changed.joined(separator: ", ")) differ.")
        }
    }
}
