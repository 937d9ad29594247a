import Coral
import CoralPlainObjects
import Foundation
import Testing

/// An object whose hash depends on its properties.
private final class Member: Mapped, Hashable {
    var name = ""
    var friend: Member?
    var friends: Set<Member> = []

    init() {}

    convenience init(_ name: String) {
        self.init()
        self.name = name
    }

    class var mappedProperties: [MappedProperty] {
        // The name comes last, so that it is read after the friends.
        [
            MappedProperty("friend", \Member.friend), MappedProperty("friends", \Member.friends),
            MappedProperty("name", \Member.name),
        ]
    }

    static func == (left: Member, right: Member) -> Bool { left.name == right.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

private final class Team: Mapped {
    var members: Set<Member> = []
    var guests: Set<Member>?
    var pairs: [Set<Member>] = []
    var scores: [Member: Int] = [:]
    var groups: [String: Set<[Member]>] = [:]

    init() {}

    class var mappedProperties: [MappedProperty] {
        [
            MappedProperty("members", \Team.members), MappedProperty("guests", \Team.guests),
            MappedProperty("pairs", \Team.pairs), MappedProperty("scores", \Team.scores),
            MappedProperty("groups", \Team.groups),
        ]
    }
}

/// Sets of objects, and dictionaries with objects as keys.
@Suite struct PlainSetTests {
    @Test func `a collection that hashes objects has all that the document contains`() throws {
        let json = Data(
            """
            {"members": [{"$id": 1, "name": "a", "friends": [{"name": "x"}, {"name": "y"}]}, {"name": "b"}, {"name": "c"}],
             "guests": [{"$ref": 1}, {"name": "d"}], "pairs": [[{"name": "a"}, {"name": "b"}], []],
             "scores": [{"name": "a"}, 1, {"name": "b"}, 2],
             "groups": {"g": [[{"name": "a"}, {"name": "b"}], [{"name": "a"}]]}}
            """.utf8)
        let team = try PlainImporter().make(Team.self, from: json)
        let (a, b) = (Member("a"), Member("b"))
        #expect(team.members == [a, b, Member("c")])
        #expect(team.guests == [a, Member("d")])
        #expect(team.members.first { $0 == a } === team.guests?.first { $0 == a })
        #expect(team.members.first { $0 == a }?.friends == [Member("x"), Member("y")])
        #expect(team.pairs == [[a, b], []])
        #expect(team.scores == [a: 1, b: 2])
        #expect(team.groups == ["g": [[a, b], [a]]])
        // Found by their hashes, too.
        for name in ["a", "b", "c"] { #expect(team.members.contains(Member(name))) }
        // An error leaves everything unchanged, and null clears.
        #expect(throws: PlainObjectError.self) {
            try PlainImporter().populate(team, from: Data(#"{"guests": null, "members": [{"name": {}}]}"#.utf8))
        }
        #expect(team.members.count == 3 && team.guests?.count == 2)
        try PlainImporter().populate(team, from: Data(#"{"guests": null}"#.utf8))
        #expect(team.guests == nil && team.members.count == 3)
    }

    /// A team whose members have a common friend, who is not a member.
    private func team(_ order: some Sequence<Int>) -> Team {
        let (team, friend) = (Team(), Member("friend"))
        for number in order {
            let member = Member("member \(number)")
            member.friend = friend
            team.members.insert(member)
        }
        return team
    }

    @Test func `an object that members of a set share is written where it is first mentioned`() throws {
        let data = try PlainExporter().encoded(reflecting: team(10..<40))
        #expect(try data == PlainExporter().encoded(reflecting: team((10..<40).reversed())))
        let read = try PlainImporter().make(Team.self, from: data)
        #expect(read.members == Set((10..<40).map { Member("member \($0)") }))
        #expect(Set(read.members.compactMap { $0.friend.map(ObjectIdentifier.init) }).count == 1)
    }

    @Test func `members of a set that refer to each other by sets are written once each`() throws {
        let team = Team()
        let members = (0..<12).map { Member("\(10 + $0)") }
        for member in members { member.friends = Set(members.filter { $0 !== member }) }
        team.members = Set(members)
        let data = try PlainExporter().encoded(reflecting: team)
        #expect(String(decoding: data, as: UTF8.self).components(separatedBy: "$id").count == 13)
        let read = try PlainImporter().make(Team.self, from: data)
        #expect(read.members == team.members)
        for member in read.members {
            #expect(member.friends == team.members.subtracting([member]))
            #expect(member.friends.allSatisfy { friend in read.members.contains { $0 === friend } })
        }
        for member in members + Array(read.members) { member.friends = [] }
    }
}
