#if STORE_ENGINE

    import Coral
    import CoralMigration
    import Foundation
    import ModelCodeGeneration
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
                /// No stage names the checksum of a version, or a SwiftData plan has no stage that leads to the next version.
                case missingStage
                /// A SwiftData plan contradicts itself.
                case contradictoryPlan
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
            /// The number of objects in the recorded store that it concerns; nil if it does not concern objects.
            package var count: Int?
        }

        /// How stores of a version are opened.
        package struct Row: Sendable {
            package var version: String
            package var releases: [String]
            package var checksum: String
            /// `opens`, `impossible`, or the steps: `inferred`, `mapping NAME`, and `3 × inferred` for three in turn.
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
        private let isProgressive: Bool
        private let stages: String?
        private let plan: SwiftDataSources.MigrationPlan?

        /// Checks a record against a model.
        ///
        /// - Parameters:
        ///   - record: The record in the folder.
        ///   - file: The model of the app, with all its versions.
        ///   - current: The current version of the model.
        ///   - mappings: The mapping models of the app.
        ///   - plan: The migration plan of a SwiftData program; nil if there is none.
        ///   - stages: The text of the source that states the stages of a staged migration; nil if there is none.
        ///   - isProgressive: Whether the app migrates over each version in turn; otherwise it migrates in one step, unless a plan or
        ///     stages state the versions.
        ///   - allowed: The subjects, such as `Note.title`, whose loss is intended.
        ///   - progress: Can cancel the work.
        /// - Throws: `CocoaError.userCancelled`, and errors of the system.
        package init(
            _ record: VersionRecord, in folder: URL, against file: ModelFile, current: ModelVersion,
            mappings: [MigrationMapping], plan: SwiftDataSources.MigrationPlan? = nil, stages: String?,
            isProgressive: Bool = false, allowed: Set<String>, progress: Progress
        ) throws {
            (self.folder, self.file, self.current, self.mappings) = (folder, file, current, mappings)
            (self.plan, self.stages, self.isProgressive) = (plan, stages, isProgressive)
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
            if let plan { check(plan, record) }
            if !record.versions.contains(where: { $0.hashes == hashes.entityHashes }) {
                add(
                    .notRecorded, file.current.name,
                    "The current version is not recorded: coral versions add RELEASE --model MODEL.")
            }
        }

        private mutating func add(
            _ kind: Finding.Kind, _ version: String, _ message: String, count: Int? = nil
        ) {
            findings.append(Finding(kind: kind, version: version, message: message, count: count))
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

        private var isBundle: Bool { [.sourceBundle, .compiledBundle, .swiftSchemas].contains(file.kind) }

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
            // Sources without versions all have the same identifier.
            guard file.kind != .swiftSource else { return }
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

        // MARK: - The plan of a SwiftData program

        /// The hashes of a version of the file.
        private func hashes(_ name: String) -> [String: Data]? {
            file.versions.first { $0.name == name }.map { VersionHash($0.model).entityHashes }
        }

        /// Checks that the plan leads from each shipped version to the current one.
        private mutating func check(_ plan: SwiftDataSources.MigrationPlan, _ record: VersionRecord) {
            for version in record.versions where plannedIndex(of: version) == nil {
                add(
                    .missingStage, version.name,
                    "The plan \(plan.name) lists no schema with its hashes: opening its store fails with \"unknown model version\" "
                        + "(error 134504).")
            }
            for (old, new) in zip(plan.schemas, plan.schemas.dropFirst())
            where !plan.stages.contains(where: { $0.from == old && $0.to == new }) {
                add(.missingStage, new, "The plan \(plan.name) has no stage from \(old) to \(new).")
            }
            for stage in plan.stages {
                let positions = [stage.from, stage.to].map { plan.schemas.firstIndex(of: $0) }
                guard let from = positions[0], let to = positions[1] else {
                    let unknown = positions[0] == nil ? stage.from : stage.to
                    add(
                        .contradictoryPlan, unknown,
                        "The stage at \(plan.file):\(stage.line) names \(unknown), which the plan does not list.")
                    continue
                }
                if from >= to {
                    add(
                        .contradictoryPlan, stage.to,
                        "The stage at \(plan.file):\(stage.line) leads from \(stage.from) back to \(stage.to).")
                } else if let one = model(stage.from), let other = model(stage.to) {
                    // A custom stage changes values; its schema is migrated as that of a lightweight one is.
                    for obstacle in InferredMapping(from: one, to: other).obstacles {
                        let subject = [obstacle.entity, obstacle.property].compactMap { $0 }.joined(separator: ".")
                        add(
                            .impossible, stage.to,
                            "The \(stage.isCustom ? "custom" : "lightweight") stage from \(stage.from) cannot migrate \(subject): "
                                + obstacle.reason)
                    }
                }
            }
            let identifiers = plan.schemas.compactMap { name in
                file.versions.first { $0.name == name }?.model.versionIdentifiers.min().map { (name, $0) }
            }
            for ((old, first), (new, second)) in zip(identifiers, identifiers.dropFirst())
            where first.compare(second, options: .numeric) != .orderedAscending {
                add(
                    .contradictoryPlan, new,
                    "The plan lists \(new) with the version \(second) after \(old) with \(first).")
            }
        }

        private func model(_ name: String) -> Model? { file.versions.first { $0.name == name }?.model }

        /// The position of a recorded version in the plan; nil without a plan, and if the plan does not have it.
        private func plannedIndex(of version: VersionRecord.Version) -> Int? {
            plan?.schemas.firstIndex { hashes($0) == version.hashes }
        }

        /// The versions over which the app migrates: those of the plan from a recorded one on, those that the stages name, or all.
        private func versions(from version: VersionRecord.Version) throws -> [ModelVersion] {
            let passed: [ModelFile.Version]
            if let plan {
                guard let index = plannedIndex(of: version) else { return [] }
                passed = plan.schemas[index...].dropLast().compactMap { name in
                    file.versions.first { $0.name == name }
                }
            } else {
                let ordered = file.versions.sorted { $0.name.compare($1.name, options: .numeric) == .orderedAscending }
                passed = ordered.filter { version in
                    isProgressive || stages.map { $0.contains(VersionHash(version.model).checksum) } ?? false
                }
            }
            return try passed.map { ModelVersion(name: $0.name, model: try NSManagedObjectModel(value: $0.model)) }
        }

        /// The stages from a recorded version to the current one.
        private func plannedWay(of version: VersionRecord.Version) -> String? {
            guard let plan, let index = plannedIndex(of: version) else { return nil }
            let stages = zip(plan.schemas[index...], plan.schemas[index...].dropFirst()).map { old, new in
                plan.stages.first { $0.from == old && $0.to == new }
            }
            return stages.map { $0.map { $0.isCustom ? "custom" : "lightweight" } ?? "no stage" }.joined(
                separator: ", ")
        }

        // MARK: - Migration

        /// Migrates the store of a version on a copy, in the way of the app: each step with a mapping model that fits, or else inferred.
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
            var migration = ProgressiveMigration(to: current, through: try versions(from: version))
            migration.mappings = mappings
            guard let path = version.store else {
                let steps = try migration.steps(
                    from: ModelVersion(name: version.modelName, model: try NSManagedObjectModel(value: shipped)))
                row.way = Self.way(steps)
                for obstacle in steps.flatMap(\.placedObstacles) {
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
            row.way = plannedWay(of: version) ?? Self.way(result.steps)
            row.objectCount = result.objectCount
            let obstacles = result.failure == nil ? [] : result.steps.flatMap(\.placedObstacles)
            for finding in result.findings {
                let subject = [finding.entity, finding.property].compactMap { $0 }.joined(separator: ".")
                // An obstacle states the same for all stores of the version, not only for the recorded one.
                let isStated = obstacles.contains { $0.entity == finding.entity && $0.property == finding.property }
                guard finding.isBreaking ? !isStated : !allowed.contains(subject) else { continue }
                add(
                    finding.isBreaking ? .impossible : .loss, version.name,
                    "\(subject): \(finding.message)", count: finding.count)
            }
            if let failure = result.failure {
                row.way = "impossible"
                if obstacles.isEmpty, !result.findings.contains(where: \.isBreaking) {
                    add(.impossible, version.name, failure)
                }
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

        private static func way(_ steps: [MigrationStep]) -> String {
            var runs: [(way: String, count: Int)] = []
            for step in steps {
                let way =
                    switch step.kind {
                    case .inferred: "inferred"
                    case .mapping(let mapping): "mapping \(mapping.name)"
                    case .repaired, .impossible: "impossible"
                    }
                if way == "impossible" { return way }
                if runs.last?.way == way { runs[runs.count - 1].count += 1 } else { runs.append((way, 1)) }
            }
            return runs.map { $0.count == 1 ? $0.way : "\($0.count) × \($0.way)" }.joined(separator: ", ")
        }
    }

#endif
