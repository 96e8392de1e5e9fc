package netproxy

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	// maxQueries are answered at once; further ones wait in the socket.
	maxQueries = 32
	// maxQuery is the length of a message without extensions; answers fit it too,
	// with so many addresses at most.
	maxQuery   = 512
	maxAnswers = 8
	// maxMessages are answered on one connection.
	maxMessages = 1000
	portDNS     = 53
	// answerTTL is how many seconds an answer may be kept.
	answerTTL = 30
)

// serveDNS answers look-ups of names that may be reached, with their real
// addresses: programs see what they would see outside, and nothing has to lead
// from an address back to a name. (Nothing reaches such an address but by name,
// through the proxy.) For a command every other name does not exist. Nobody is
// asked about one here; that a look-up failed is in the command's result.
func (p *passage) serveDNS(conn net.PacketConn) {
	defer p.release(conn)
	slots := make(chan struct{}, maxQueries)
	for {
		// Each query is answered apart, so it has a buffer of its own.
		query := make([]byte, maxQuery)
		n, from, err := conn.ReadFrom(query)
		if err != nil {
			return // closed: a socket of packets has no other lasting error
		}
		select {
		case slots <- struct{}{}:
		case <-p.ctx.Done():
			return
		}
		p.work.Go(func() {
			defer func() { <-slots }()
			if answer := p.answerDNS(query[:n]); answer != nil {
				conn.WriteTo(answer, from) //nolint:errcheck // who asked asks again
			}
		})
	}
}

// serveDNSByTCP does the same on a connection, where each message follows its length
// (RFC 1035, 4.2.2). Some resolvers ask that way first (the option use-vc).
func (p *passage) serveDNSByTCP(conn *net.TCPConn) {
	for range maxMessages {
		if conn.SetDeadline(p.net.opt.Clock.Now().Add(p.net.greet)) != nil {
			return
		}
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(length[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		answer := p.answerDNS(query)
		if answer == nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

// answerDNS answers a message, or returns nil when it is none.
func (p *passage) answerDNS(query []byte) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil || header.Response {
		return nil
	}
	answer := dnsmessage.Message{Header: dnsmessage.Header{
		ID: header.ID, Response: true, OpCode: header.OpCode,
		RecursionDesired: header.RecursionDesired, RecursionAvailable: true,
	}}
	questions, err := parser.AllQuestions()
	switch {
	case header.OpCode != 0:
		answer.RCode = dnsmessage.RCodeNotImplemented
	case err != nil || len(questions) != 1 || questions[0].Class != dnsmessage.ClassINET:
		answer.RCode = dnsmessage.RCodeFormatError
	default:
		answer.Questions = questions
		answer.RCode, answer.Answers = p.lookUp(questions[0])
	}
	packed, err := answer.Pack()
	if err != nil {
		return nil // it came from a message that was read, so there is nothing to say
	}
	return packed
}

// lookUp resolves the name of a question.
func (p *passage) lookUp(q dnsmessage.Question) (dnsmessage.RCode, []dnsmessage.Resource) {
	written := q.Name.String()
	host, allowed := p.knownName(written)
	if !allowed {
		return dnsmessage.RCodeNameError, nil
	}
	if q.Type != dnsmessage.TypeA && q.Type != dnsmessage.TypeAAAA {
		return dnsmessage.RCodeSuccess, nil
	}
	addrs, err := p.net.resolve(p.ctx, host)
	if err != nil {
		_ = p.dialled(target{host, portHTTPS}, err) // notes an address that is refused; there is no room for the reason
		return dnsmessage.RCodeNameError, nil
	}
	var out []dnsmessage.Resource
	for _, addr := range addrs {
		if body := record(addr, q.Type); body != nil && len(out) < maxAnswers {
			out = append(out, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: answerTTL}, Body: body,
			})
		}
	}
	return dnsmessage.RCodeSuccess, out
}

// record is an address as the type that was asked for, or nil.
func record(addr netip.Addr, t dnsmessage.Type) dnsmessage.ResourceBody {
	switch {
	case t == dnsmessage.TypeA && addr.Is4():
		return &dnsmessage.AResource{A: addr.As4()}
	case t == dnsmessage.TypeAAAA && addr.Is6():
		return &dnsmessage.AAAAResource{AAAA: addr.As16()}
	}
	return nil
}
