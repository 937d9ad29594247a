#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import Coral
    import Foundation
    import ModelFiles

    /// Whether stores of all versions that have shipped open with the version that is about to ship.
    package struct VersionCheck {
        /// A mistake.
        package struct Finding: Sendable, Equatable {
            /// The kinds of mistakes.
            package enum Kind: String, Sendable {
                /// A file of the record is not the one that was recorded.
                case changedRecord
                /// A version that has shipped has been edited in the model since.
                case edited
                /// A version that has shipped is no longer in the model.
                case missingVersion
                /// No stage names the checksum of a version.
                case missingStage
                /// Two versions of the model have the same hashes.
                case sameHashes
                /// Two different versions have the same identifier.
                case reusedIdentifier
                /// The version that is about to ship is not recorded.
                case notRecorded
                /// A store of a version cannot be migrated.
                case impossible
                /// A migration loses values or objects.
                case loss
            }

            package var kind: Kind
            package var version: String
            package var message: String
        }

        /// How stores of a version are opened.
        package struct Row: Sendable {
            package var version: String
            package var releases: [String]
            package var checksum: String
            /// `opens`, `inferred`, `mapping NAME` or `impossible`.
            package var way: String
            /// The number of objects after the migration of the recorded store; nil if there is no store.
            package var objectCount: Int?
        }

        package private(set) var rows: [Row] = []
        package private(set) var findings: [Finding] = []

        private let folder: URL
        private let file: ModelFile
        private let current: ModelVersion
        private let mappings: [MigrationMapping]

        /// Checks a record against a model.
        ///
        /// - Parameters:
        ///   - record: The record in the folder.
        ///   - file: The model of the app, with all its versions.
        ///   - current: The current version of the model.
        ///   - mappings: The mapping models of the app.
        ///   - stages: The text of the source that states the stages of a staged migration; nil if there is none.
        ///   - allowed: The subjects, such as `Note.title`, whose loss is intended.
        ///   - progress: Can cancel the work.
        /// - Throws: `CocoaError.userCancelled`, and errors of the system.
        package init(
            _ record: VersionRecord, in folder: URL, against file: ModelFile, current: ModelVersion,
            mappings: [MigrationMapping], stages: String?, allowed: Set<String>, progress: Progress
        ) throws {
            (self.folder, self.file, self.current, self.mappings) = (folder, file, current, mappings)
            let hashes = VersionHash(file.model)
            for version in record.versions {
                try progress.checkCancelled()
                guard isUnchanged(version) else { continue }
                compare(version)
                if let stages, !stages.contains(version.checksum) {
                    add(.missingStage, version.name, "No stage names its checksum \(version.checksum).")
                }
                try migrate(version, allowed, progress)
            }
            checkNames(record)
            if !record.versions.contains(where: { $0.hashes == hashes.entityHashes }) {
                add(
                    .notRecorded, file.current.name,
                    "The current version is not recorded: coral versions add RELEASE --model MODEL.")
            }
        }

        private mutating func add(_ kind: Finding.Kind, _ version: String, _ message: String) {
            findings.append(Finding(kind: kind, version: version, message: message))
        }

        // MARK: - The record

        /// Checks the files of a version: they are those that were recorded.
        private mutating func isUnchanged(_ version: VersionRecord.Version) -> Bool {
            for (path, digest) in version.digests.sorted(by: { $0.key < $1.key }) {
                guard let now = try? VersionRecord.digest(of: folder.appendingPathComponent(path)) else {
                    add(.changedRecord, version.name, "\(path) is missing.")
                    return false
                }
                guard now == digest else {
                    add(.changedRecord, version.name, "\(path) is not the file that was recorded.")
                    return false
                }
            }
            guard let model = try? ModelFile.read(at: folder.appendingPathComponent(version.model)).model,
                VersionHash(model).entityHashes == version.hashes
            else {
                add(.changedRecord, version.name, "\(version.model) does not have the recorded hashes.")
                return false
            }
            return true
        }

        // MARK: - The model's file

        /// Checks that the model still has the version that has shipped.
        private mutating func compare(_ version: VersionRecord.Version) {
            let versions = file.versions.map { ($0.name, $0.model, VersionHash($0.model).entityHashes) }
            if versions.contains(where: { $0.2 == version.hashes }) { return }
            // A model without versions is that of the current one only.
            guard file.versions.count > 1 || file.current.name == version.modelName && isBundle else { return }
            guard let same = versions.first(where: { $0.0 == version.modelName }) else {
                add(.missingVersion, version.name, "The model no longer has the version \"\(version.modelName)\".")
                return
            }
            guard let shipped = try? ModelFile.read(at: folder.appendingPathComponent(version.model)).model else {
                return
            }
            let reasons = HashDifference(from: shipped, to: same.1).entities.map { entity in
                let texts = entity.reasons.prefix(2).map { $0.text(old: "the shipped version", new: "the model") }
                return texts.isEmpty ? entity.name : "\(entity.name) (\(texts.joined(separator: "; ")))"
            }
            add(
                .edited, version.name,
                "The version \"\(version.modelName)\" has been edited since it shipped: \(reasons.prefix(3).joined(separator: ", "))."
            )
        }

        private var isBundle: Bool { file.kind == .sourceBundle || file.kind == .compiledBundle }

        private mutating func checkNames(_ record: VersionRecord) {
            let versions = file.versions.map {
                ($0.name, VersionHash($0.model).entityHashes, $0.model.versionIdentifiers)
            }
            for (index, one) in versions.enumerated() {
                for other in versions[(index + 1)...] where one.1 == other.1 {
                    add(
                        .sameHashes, other.0,
                        "\"\(one.0)\" and \"\(other.0)\" have the same hashes: a staged migration cannot tell them apart."
                    )
                }
            }
            var owners: [String: (name: String, hashes: [String: Data])] = [:]
            let shipped = record.versions.map { ($0.name, $0.hashes, Set($0.identifiers)) }
            for (name, hashes, identifiers) in shipped + [
                (file.current.name, VersionHash(file.model).entityHashes, file.model.versionIdentifiers)
            ] {
                for identifier in identifiers.sorted() where !identifier.isEmpty {
                    guard let owner = owners[identifier] else {
                        owners[identifier] = (name, hashes)
                        continue
                    }
                    if owner.hashes != hashes {
                        add(
                            .reusedIdentifier, name,
                            "Its identifier \(identifier) is that of \(owner.name), which is another version.")
                    }
                }
            }
        }

        // MARK: - Migration

        /// Migrates the store of a version on a copy, in the way of the app: in one step, with a mapping model that fits, or else
        /// inferred.
        private mutating func migrate(
            _ version: VersionRecord.Version, _ allowed: Set<String>, _ progress: Progress
        ) throws {
            var row = Row(
                version: version.modelName, releases: version.releases, checksum: version.checksum, way: "opens",
                objectCount: nil)
            defer { rows.append(row) }
            if VersionHash(file.model).entityHashes == version.hashes { return }
            let shipped = try ModelFile.read(at: folder.appendingPathComponent(version.model)).model
            checkElements(HashDifference(from: shipped, to: file.model), version.name, allowed)
            var migration = ProgressiveMigration(to: current)
            migration.mappings = mappings
            guard let path = version.store else {
                let obstacles = InferredMapping(from: shipped, to: file.model).obstacles
                row.way = obstacles.isEmpty ? "inferred" : "impossible"
                for obstacle in obstacles {
                    addObstacle(obstacle.entity, obstacle.property, obstacle.reason, version.name)
                }
                return
            }
            let result: MigrationRehearsal.Result
            do {
                result = try MigrationRehearsal(migration).run(
                    onStoreAt: folder.appendingPathComponent(path), progress: progress)
            } catch let error as CocoaError where error.code == .userCancelled {
                throw error
            } catch {
                row.way = "impossible"
                add(.impossible, version.name, "\(error)")
                return
            }
            row.way = result.steps.map(Self.way).joined(separator: ", ")
            row.objectCount = result.objectCount
            let breaking = result.findings.filter(\.isBreaking)
            for finding in result.findings {
                let subject = [finding.entity, finding.property].compactMap { $0 }.joined(separator: ".")
                guard finding.isBreaking || !allowed.contains(subject) else { continue }
                add(
                    finding.isBreaking ? .impossible : .loss, version.name,
                    "\(subject): \(finding.message) (\(finding.count) in the recorded store)")
            }
            if let failure = result.failure {
                row.way = "impossible"
                let obstacles = result.steps.flatMap(\.obstacles)
                if obstacles.isEmpty, breaking.isEmpty { add(.impossible, version.name, failure) }
                for obstacle in obstacles {
                    addObstacle(obstacle.entity, obstacle.property, obstacle.reason, version.name)
                }
            }
        }

        /// Reports elements of composites that are gone: a renaming identifier keeps the values of attributes only.
        private mutating func checkElements(_ difference: HashDifference, _ version: String, _ allowed: Set<String>) {
            for entity in difference.entities {
                for reason in entity.reasons where reason.aspect == .removed {
                    guard let path = reason.property, path.contains(".") else { continue }
                    let subject = "\(entity.name).\(path)"
                    guard !allowed.contains(subject) else { continue }
                    add(
                        .loss, version, "\(subject): The element of the composite is removed, together with its values."
                    )
                }
            }
        }

        private mutating func addObstacle(_ entity: String, _ property: String?, _ reason: String, _ version: String) {
            let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
            add(.impossible, version, "\(subject): \(reason)")
        }

        private static func way(_ step: MigrationStep) -> String {
            switch step.kind {
            case .inferred: "inferred"
            case .mapping(let mapping): "mapping \(mapping.name)"
            case .repaired, .impossible: "impossible"
            }
        }
    }

#endif
